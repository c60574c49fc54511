//! Agents' programs, as the runtime sees them.

use std::sync::Arc;

use async_trait::async_trait;
use warren_programs::{AgentStatus, Installed, Programs, Report};
use warren_runtime::{Known, Packages, Program, ProgramError};

/// What is installed on this machine.
pub(crate) struct OnDisk(pub(crate) Programs);

#[async_trait]
impl warren_runtime::Programs for OnDisk {
    fn installed(&self) -> Vec<Program> {
        self.0.list().into_iter().filter_map(|status| status.installed).map(program).collect()
    }

    fn known(&self) -> Vec<Known> {
        let known = |status: AgentStatus| Known {
            name: status.agent.name.to_owned(),
            pinned: status.agent.version.to_owned(),
            installed: status.installed.map(|installed| (installed.version, installed.size_bytes)),
        };
        self.0.list().into_iter().map(known).collect()
    }

    async fn install(&self, name: &str) -> Result<(), ProgramError> {
        let report: Report = Arc::new(|progress| tracing::debug!(?progress, "installing an agent"));
        let installed = self.0.install(name, &report).await;
        installed.map(drop).map_err(|error| {
            let hint = error.hint().map(str::to_owned);
            ProgramError { message: format!("{:#}", anyhow::Error::from(error)), hint }
        })
    }

    async fn remove(&self, name: &str) -> Result<(), ProgramError> {
        let removed = self.0.remove(name).await;
        removed.map_err(|error| ProgramError {
            message: format!("{:#}", anyhow::Error::from(error)),
            hint: None,
        })
    }

    fn packages(&self) -> Packages {
        self.0.layer().as_ref().map(packages).unwrap_or_default()
    }
}

fn packages(layer: &Installed) -> Packages {
    Packages { node: layer.node_packages(), python: layer.python_packages() }
}

fn program(installed: Installed) -> Program {
    let place = format!("/opt/agents/{}", installed.name);
    Program {
        argv: installed.argv(&place),
        path: installed.path(&place),
        directory: installed.directory,
        name: installed.name,
    }
}
