//! Context of a command: data directory, configuration, environment.

use std::env;

use anyhow::{Context as _, Result};
use warren_config::{Environment, Loaded, data_directory, load};

use crate::{cli::Global, home::Home, invocation::Invocation};

/// Context of a command.
pub(crate) struct Setting {
    pub(crate) global: Global,
    pub(crate) environment: Environment,
    pub(crate) home: Home,
    /// Makes commands in hints runnable as printed.
    pub(crate) invocation: Invocation,
}

impl Setting {
    pub(crate) fn new(global: Global, environment: Environment) -> Result<Self> {
        let current = env::current_dir().context("failed to find the current directory")?;
        let directory = data_directory(global.dir.as_deref(), &environment, &current)?;
        let invocation = Invocation::of_process(&global, &environment, &directory);
        Ok(Self { global, environment, home: Home::new(directory), invocation })
    }

    /// Reads and checks the configuration.
    pub(crate) fn load(&self) -> Result<Loaded> {
        let file = self.global.config.as_deref();
        Ok(load(self.home.directory(), file, &self.environment)?)
    }

    /// The server the user named, if any.
    pub(crate) fn named_server(&self) -> Option<&str> {
        self.global.server.as_deref().or(self.environment.get("WARREN_SERVER"))
    }

    /// What the user wants to be logged.
    pub(crate) fn log_filter(&self) -> Option<&str> {
        self.global.log.as_deref().or(self.environment.get("WARREN_LOG"))
    }
}
