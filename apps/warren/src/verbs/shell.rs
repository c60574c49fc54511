//! `warren completions` and `warren man`: for the shell and its manual.

use std::fs;

use anyhow::{Context as _, Result};
use clap::CommandFactory as _;

use crate::{
    cli::{self, Cli},
    report::Outcome,
    terminal::Terminal,
};

/// Runs `warren completions`.
pub(crate) fn completions(args: &cli::Completions, terminal: &mut Terminal) -> Result<Outcome> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "warren", &mut script);
    terminal.write(&String::from_utf8_lossy(&script))?;
    Ok(Outcome::Done)
}

/// Runs `warren man`.
pub(crate) fn man(args: &cli::Man, terminal: &mut Terminal) -> Result<Outcome> {
    let directory = &args.directory;
    let shown = directory.display();
    fs::create_dir_all(directory).with_context(|| format!("failed to create `{shown}`"))?;
    clap_mangen::generate_to(Cli::command(), directory)
        .with_context(|| format!("failed to write manual pages to `{shown}`"))?;
    terminal.line(&format!("Wrote manual pages to {shown}; read them with `man warren`"))?;
    Ok(Outcome::Done)
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;
    use clap_complete::Shell;

    use crate::cli::{Cli, Man};

    #[test]
    fn every_shell_gets_a_script_with_every_command() {
        for shell in [Shell::Bash, Shell::Zsh, Shell::Fish] {
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut Cli::command(), "warren", &mut script);
            let script = String::from_utf8(script).expect("text");
            for command in Cli::command().get_subcommands().filter(|command| !command.is_hide_set()) {
                assert!(script.contains(command.get_name()), "{shell}: {}", command.get_name());
            }
        }
    }

    #[test]
    fn every_command_has_a_manual_page() {
        let root = tempfile::tempdir().expect("a directory");
        let directory = root.path().join("man1");
        let mut terminal = crate::terminal::Terminal::of_process(&warren_config::Environment::from([]));
        super::man(&Man { directory: directory.clone() }, &mut terminal).expect("written");
        for name in ["warren.1", "warren-run.1", "warren-sessions-rm.1", "warren-agents-install.1"] {
            let page = std::fs::read_to_string(directory.join(name)).expect(name);
            assert!(page.contains(".TH"), "{page}");
        }
        assert!(!directory.join("warren-__codegen.1").exists());
    }
}
