//! The real agents, from the npm registry, installed once for all tests.

use std::{path::PathBuf, process::Stdio};

use tokio::process::Command;
use warren_env::Env;
use warren_programs::{Options, Programs};

use crate::{Setup, program};

/// Where tests install agents' programs, unless the environment names another place.
///
/// # Panics
/// When this crate does not lie where it was built.
#[must_use]
#[expect(clippy::disallowed_methods, reason = "whoever runs the tests says where large things are kept")]
pub fn agents_directory() -> PathBuf {
    std::env::var_os("WARREN_TEST_AGENTS").map_or_else(
        || {
            program()
                .parent()
                .and_then(|directory| directory.parent())
                .expect("a target directory")
                .join("agents")
        },
        PathBuf::from,
    )
}

impl Setup {
    /// With the template, and with what it needs, installed first if it is not there yet. In a directory of its own: other
    /// tests have no packages.
    ///
    /// # Panics
    /// When it cannot be installed.
    pub async fn template(self) -> Self {
        let directory = agents_directory().with_file_name("template-layer");
        let home = tempfile::tempdir().expect("a temporary directory");
        let output = Command::new(program())
            .args(["template", "install", "--json", "--dir"])
            .arg(home.path())
            .env("WARREN_AGENTS_DIRECTORY", &directory)
            .stdin(Stdio::null())
            .output()
            .await
            .expect("the program runs");
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success(), "{said}{}", String::from_utf8_lossy(&output.stderr));
        self.begin_with_template()
            .config(&format!("[agents]\ndirectory = {:?}", directory.display().to_string()))
    }

    /// With the programs of these agents, which are installed first if they are not there yet.
    ///
    /// # Panics
    /// When one cannot be installed.
    pub async fn agents(self, names: &[&str]) -> Self {
        let directory = agents_directory();
        let home = tempfile::tempdir().expect("a temporary directory");
        // Only looked at: nothing is got from here.
        let installed = Programs::new(Options::new(directory.clone(), ""), Env::system()).list();
        let is_there = |name: &str| installed.iter().any(|it| it.agent.name == name && it.is_current());
        for name in names.iter().filter(|name| !is_there(name)) {
            let output = Command::new(program())
                .args(["agents", "install", name, "--dir"])
                .arg(home.path())
                .env("WARREN_AGENTS_DIRECTORY", &directory)
                .stdin(Stdio::null())
                .output()
                .await
                .expect("the program runs");
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        }
        self.config(&format!("[agents]\ndirectory = {:?}", directory.display().to_string()))
    }
}
