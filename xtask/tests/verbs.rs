//! The verbs as a user calls them, in a small workspace made for the purpose.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::{
    fs,
    io::{BufRead as _, BufReader},
    path::Path,
    process::{Command, Output, Stdio},
};

use tempfile::TempDir;

/// A workspace with one crate that keeps all rules.
struct Workspace(TempDir);

impl Workspace {
    fn new() -> Workspace {
        let workspace = Workspace(tempfile::tempdir().unwrap());
        workspace.write(
            "Cargo.toml",
            "[workspace]\nresolver = \"3\"\nmembers = [\"crates/*\"]\n[workspace.lints.rust]\nunsafe_code = \"deny\"\n",
        );
        workspace.write(
            "crates/domain/Cargo.toml",
            "[package]\nname = \"warren-domain\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n[lints]\nworkspace = true\n",
        );
        workspace.write(
            "crates/domain/src/lib.rs",
            "//! Words.\n//!\n//! **Invariant:** knows no clock.\n\nmod error;\n",
        );
        workspace.write("crates/domain/src/error.rs", "// Internal = \"INTERNAL\", 500;\n");
        workspace.write("docs/errors/INTERNAL.md", "# INTERNAL\n\nStatus 500. Sorry.\n");
        workspace.write("release-notes/unreleased/1-first.md", "# First\n");
        workspace
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.0.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn xtask(&self, arguments: &[&str]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_xtask"));
        command.args(arguments).current_dir(self.0.path()).stdin(Stdio::null());
        // What the outer run told its tests is not for the inner one.
        for name in ["CI", "WARREN_TEST_REQUIRE", "CARGO_TARGET_DIR"] {
            command.env_remove(name);
        }
        command.output().unwrap()
    }
}

fn text(output: &Output) -> String {
    let streams = [&output.stdout, &output.stderr];
    streams.map(|stream| String::from_utf8_lossy(stream).into_owned()).concat()
}

#[test]
fn a_tidy_workspace_passes_and_each_breach_is_named() {
    let workspace = Workspace::new();
    let tidy = workspace.xtask(&["tidy"]);
    assert!(tidy.status.success(), "{}", text(&tidy));

    workspace.write("crates/domain/src/lost.rs", "");
    workspace.write("docs/errors/GONE.md", "# GONE\n");
    let tidy = workspace.xtask(&["tidy"]);
    assert!(!tidy.status.success());
    for breach in ["crates/domain/src/lost.rs: no `mod` line", "docs/errors/GONE.md: stale"] {
        assert!(text(&tidy).contains(breach), "{}", text(&tidy));
    }
}

#[test]
fn a_generated_file_that_drifted_fails_the_check_until_it_is_written_anew() {
    let workspace = Workspace::new();
    assert!(!workspace.xtask(&["codegen", "--check"]).status.success());
    assert!(workspace.xtask(&["codegen"]).status.success());
    assert!(workspace.xtask(&["codegen", "--check"]).status.success());
}

#[test]
fn a_process_that_a_test_abandons_is_found_ended_and_fails_the_run() {
    let workspace = Workspace::new();
    let abandon = r#"

#[test]
fn abandons() {
    let line = "setsid tail -f /dev/null >/dev/null 2>&1 & echo $! >abandoned";
    std::process::Command::new("sh").args(["-c", line]).status().unwrap();
}
"#;
    let library = workspace.0.path().join("crates/domain/src/lib.rs");
    fs::write(&library, fs::read_to_string(&library).unwrap() + abandon).unwrap();

    let test = workspace.xtask(&["test", "--quick", "abandons"]);

    assert!(!test.status.success());
    assert!(text(&test).contains("ok      tests"), "{}", text(&test));
    assert!(text(&test).contains("`tail -f /dev/null`"), "{}", text(&test));
    let abandoned = fs::read_to_string(workspace.0.path().join("crates/domain/abandoned")).unwrap();
    assert!(!Path::new("/proc").join(abandoned.trim()).exists());
}

#[test]
fn the_guard_removes_everything_when_the_run_that_holds_it_is_gone() {
    let mut command = Command::new(env!("CARGO_BIN_EXE_xtask"));
    let mut guard = command.arg("guard").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut directory = String::new();
    BufReader::new(guard.stdout.take().unwrap()).read_line(&mut directory).unwrap();
    let directory = Path::new(directory.trim_end());
    fs::write(directory.join("tmp/forgotten"), "").unwrap();

    drop(guard.stdin.take());

    assert!(guard.wait().unwrap().success());
    assert!(!directory.exists());
}
