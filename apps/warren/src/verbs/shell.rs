//! `warren completions` and `warren man`: for the shell and its manual.

use std::fs;

use anyhow::{Context as _, Result};
use clap::CommandFactory as _;

use crate::{
    cli::{self, Cli},
    complete,
    invocation::quoted,
    report::Outcome,
    terminal::Terminal,
};

/// Runs `warren completions`.
pub(crate) fn completions(args: &cli::Completions, terminal: &mut Terminal) -> Result<Outcome> {
    let mut script = Vec::new();
    complete::write_script(args.shell, &mut script)?;
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
    let page = quoted(&directory.join("warren.1").display().to_string());
    // With a slash in it, it is a file: it need not be where `man` searches.
    let page = if page.contains('/') { page } else { format!("./{page}") };
    terminal.line(&format!("Wrote manual pages to {shown}; read the first one with `man {page}`"))?;
    Ok(Outcome::Done)
}

#[cfg(test)]
mod tests {
    use crate::cli::Man;

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
