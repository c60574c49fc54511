//! How commands ended. Every agent tells it in its own way, and some call a command that failed a success of the tool:
//! here a command that exits with anything but 0, or that was stopped, has failed, and its exit code shows.

use serde_json::Value;

use crate::fields::present;

/// What stands in the output of a command that was stopped, by agents that tell it in no other way.
const STOPPED: [&str; 5] = [
    "User aborted the command",
    "(Command was aborted)",
    "terminated command after exceeding timeout",
    "Command was cancelled by user",
    "Command was automatically cancelled",
];

/// Agents frame such words, so that they stand within the last lines, or at the very beginning.
const LAST_LINES: usize = 3;

/// The output of a command with its exit code, unless that is 0 or shows already. A negative one is an agent's word for
/// a command that never ran.
pub(crate) fn with_exit_code(output: String, code: Option<i64>) -> String {
    let Some(code) = code.filter(|code| *code > 0 && !shows(&output, *code)) else { return output };
    let parted = if output.is_empty() || output.ends_with('\n') { "" } else { "\n" };
    format!("{output}{parted}[exit code {code}]")
}

/// The exit code among what an agent tells of a command, under any of the names it has.
pub(crate) fn exit_code(told: &Value) -> Option<i64> {
    let own = ["exit_code", "exitCode", "exit"].iter().find_map(|key| present(told, key));
    own.or_else(|| present(told, "metadata").and_then(|metadata| present(metadata, "exit")))?.as_i64()
}

/// Whether a command that is over was stopped, by what stands in its output.
pub(crate) fn was_stopped(output: &str) -> bool {
    let says = |line: &str| STOPPED.iter().any(|words| line.contains(words));
    let first = output.lines().next().unwrap_or_default();
    STOPPED.iter().any(|words| first.starts_with(words)) || output.lines().rev().take(LAST_LINES).any(says)
}

/// Whether the first or the last lines say the code.
fn shows(output: &str, code: i64) -> bool {
    let says = |line: &str| {
        let line = line.to_ascii_lowercase();
        let said = ["exit code", "exit status", "exited with code"].iter().find_map(|words| {
            Some(
                line.split_once(words)?
                    .1
                    .trim_start_matches([':', ' '])
                    .split(|c: char| c != '-' && !c.is_ascii_digit()),
            )
        });
        said.and_then(|mut said| said.next()?.parse().ok()) == Some(code)
    };
    output.lines().take(LAST_LINES).any(says) || output.lines().rev().take(LAST_LINES).any(says)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{exit_code, was_stopped, with_exit_code};

    #[test]
    fn an_exit_code_stands_on_a_line_of_its_own_and_only_once() {
        let shown = |output: &str, code| with_exit_code(output.to_owned(), Some(code));
        assert_eq!(shown("", 7), "[exit code 7]");
        assert_eq!(shown("boom", 7), "boom\n[exit code 7]");
        assert_eq!(shown("boom\n", 127), "boom\n[exit code 127]");
        assert_eq!(shown("no such program", -1), "no such program");
        assert_eq!(shown("Exit code 7\nboom", 7), "Exit code 7\nboom");
        assert_eq!(shown("Exit Code: 7", 7), "Exit Code: 7");
        assert_eq!(shown("exit code 77", 7), "exit code 77\n[exit code 7]");
        assert_eq!(shown("fine", 0), "fine");
        assert_eq!(with_exit_code("fine".to_owned(), None), "fine");
    }

    #[test]
    fn an_exit_code_is_found_under_every_name_it_has() {
        for told in [json!({"exit_code": 7}), json!({"exitCode": 7}), json!({"metadata": {"exit": 7}})] {
            assert_eq!(exit_code(&told), Some(7));
        }
        for told in [json!({"exit_code": null}), json!({"exit": "7"}), json!("7"), json!(null)] {
            assert_eq!(exit_code(&told), None);
        }
    }

    #[test]
    fn a_command_that_was_stopped_is_known_by_its_last_words() {
        assert!(was_stopped("start\n\n\n<shell_metadata>\nUser aborted the command\n</shell_metadata>"));
        assert!(was_stopped(
            "<bash_metadata>\nbash tool terminated command after exceeding timeout 5 ms\n</bash_metadata>"
        ));
        assert!(was_stopped("Command was cancelled by user before it could complete. Below:\na\nb\nc\nd"));
        assert!(!was_stopped("grep: User aborted the command\n1\n2\n3\n4"));
        assert!(!was_stopped("all is well"));
    }
}
