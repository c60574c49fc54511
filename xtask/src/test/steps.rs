//! The commands that check the code, each with the environment the tests expect.

use std::{
    io::IsTerminal as _,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::Result;

use crate::{cargo, web::Web};

/// What the steps share.
pub(super) struct Environment {
    pub(super) root: PathBuf,
    /// Build products, also of the examples: they use the same dependencies.
    pub(super) target: PathBuf,
    /// Where tests put their files; removed at the end even if a test is killed.
    pub(super) temporary: PathBuf,
    /// Absent on a quick run.
    pub(super) postgres_url: Option<String>,
    /// Likewise.
    pub(super) s3_url: Option<String>,
    pub(super) ci: bool,
}

impl Environment {
    pub(super) fn format(&self) -> Result<()> {
        cargo::run(self.cargo(&self.root).args(["fmt", "--all", "--check"]))
    }

    pub(super) fn lints(&self) -> Result<()> {
        let mut clippy = self.cargo(&self.root);
        cargo::run(clippy.args(["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"]))
    }

    /// All tests, or those whose name contains `filter`. Nextest where it is installed, because it runs each test
    /// in a process of its own and ends one that hangs; the plain runner elsewhere.
    pub(super) fn tests(&self, filter: Option<&String>) -> Result<()> {
        let mut tests = self.cargo(&self.root);
        if has_nextest() {
            tests.args(["nextest", "run", "--workspace", "--no-fail-fast"]);
        } else {
            tests.args(["test", "--workspace", "--no-fail-fast", "--lib", "--bins", "--tests"]);
        }
        cargo::run(tests.args(filter))
    }

    pub(super) fn documentation_tests(&self) -> Result<()> {
        cargo::run(self.cargo(&self.root).args(["test", "--workspace", "--doc", "--no-fail-fast", "--quiet"]))
    }

    /// One package of `examples/`: built as an outsider would, from its own manifest.
    pub(super) fn example(&self, directory: &Path) -> Result<()> {
        let mut test = self.cargo(directory);
        cargo::run(test.args(["test", "--no-fail-fast"]).env("CARGO_TARGET_DIR", &self.target))
    }

    /// What people do with the page, in a real browser, with the program that the tests have built.
    pub(super) fn stories(&self, web: &Web) -> Result<()> {
        let warren = self.target.join("debug/warren");
        let mut variables = vec![("WARREN_BIN", warren.as_path()), ("TMPDIR", self.temporary.as_path())];
        if self.ci {
            // A story that cannot be told is a failure, as a test that skips is.
            variables.push(("E2E_STRICT", Path::new("1")));
        }
        web.script("e2e", &variables)
    }

    fn cargo(&self, directory: &Path) -> Command {
        let mut command = cargo::mortal_cargo(directory);
        let color = if std::io::stdout().is_terminal() { "always" } else { "never" };
        command.env("CARGO_TERM_COLOR", color).env("TMPDIR", &self.temporary);
        if let Some(url) = &self.postgres_url {
            command.env("WARREN_TEST_POSTGRES_URL", url);
        }
        if let Some(url) = &self.s3_url {
            command.env("WARREN_TEST_S3_URL", url);
        }
        if self.ci {
            command.env("CI", "true").env("WARREN_TEST_REQUIRE", "1");
            // Every parser and codec meets spoilt input for a minute.
            command.env("WARREN_FUZZ_SECONDS", "60");
        }
        command
    }
}

fn has_nextest() -> bool {
    cargo::is_there("cargo-nextest", "--version")
}
