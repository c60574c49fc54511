//! Confirmation before something is lost.

use std::io::{self, IsTerminal as _, Write as _};

use anyhow::{Context as _, Result, bail};

use crate::{answers::lines, report::Advised};

/// Asks before an action that cannot be undone. Without a terminal there is nobody to ask, so it is refused.
pub(crate) async fn confirm(question: &str, is_confirmed: bool) -> Result<bool> {
    if is_confirmed {
        return Ok(true);
    }
    if !io::stdin().is_terminal() {
        bail!(Advised::new(
            "confirmation is needed, and standard input is not a terminal",
            "pass `--yes` to confirm"
        ));
    }
    eprint!("{question} [y/N] ");
    io::stderr().flush().context("failed to write to the terminal")?;
    let answer = lines().recv().await.unwrap_or_default();
    Ok(is_yes(&answer))
}

fn is_yes(answer: &str) -> bool {
    matches!(answer.trim().to_lowercase().as_str(), "y" | "yes")
}

#[cfg(test)]
mod tests {
    use super::is_yes;

    #[test]
    fn only_a_clear_yes_confirms() {
        assert!(["y", " Yes ", "YES"].into_iter().all(is_yes));
        assert!(!["", "n", "no", "yy", "ok"].into_iter().any(is_yes));
    }
}
