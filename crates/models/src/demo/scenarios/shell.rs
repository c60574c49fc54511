//! Commands for the shell.

use super::{has_phrase, number_after};
use crate::demo::{conversation::Conversation, turn::Turn};

const MAX_SLEEP_S: u64 = 3600;
const MAX_OUTPUT_MB: u64 = 256;

pub(in crate::demo) fn is_command(conversation: &Conversation) -> bool {
    command_in(&conversation.prompt).is_some()
}

/// `run: COMMAND` runs exactly that.
pub(in crate::demo) fn command(conversation: &Conversation) -> Vec<Turn> {
    let command = command_in(&conversation.prompt).unwrap_or_default();
    let failed = conversation.latest().last().is_some_and(|result| result.is_error);
    let verdict = if failed { "The command failed:" } else { "The command says:" };
    vec![
        Turn::new().call(conversation.toolbox.bash(command, "Run the command that was given")),
        Turn::new().say(format!("{verdict}\n\n{}", conversation.latest_quoted())),
    ]
}

pub(in crate::demo) fn is_sleep(conversation: &Conversation) -> bool {
    number_after(&conversation.prompt, &["sleep"]).is_some()
}

pub(in crate::demo) fn sleep(conversation: &Conversation) -> Vec<Turn> {
    let seconds = number_after(&conversation.prompt, &["sleep"]).unwrap_or_default().min(MAX_SLEEP_S);
    let call = conversation.toolbox.sleep(seconds);
    let failed = conversation.latest().iter().any(|result| result.is_error);
    vec![
        Turn::new().say(format!("I wait for {seconds} seconds.")).call(call),
        Turn::new().say(if failed {
            "The wait was cut short.".to_owned()
        } else {
            format!("Awake again after {seconds} seconds.")
        }),
    ]
}

pub(in crate::demo) fn is_big_output(conversation: &Conversation) -> bool {
    has_phrase(&conversation.prompt, "big output")
}

/// A tool that says more than anyone wants to read.
pub(in crate::demo) fn big_output(conversation: &Conversation) -> Vec<Turn> {
    let megabytes = number_after(&conversation.prompt, &["output"]).unwrap_or(1).clamp(1, MAX_OUTPUT_MB);
    let command = format!("yes 'a line of much output' | head -c {}", megabytes * 1_000_000);
    let received: usize = conversation.latest().iter().map(|result| result.text.len()).sum();
    vec![
        Turn::new().call(conversation.toolbox.bash(&command, &format!("Print {megabytes} MB"))),
        Turn::new().say(format!("The tool printed {megabytes} MB; {received} bytes of it were shown to me.")),
    ]
}

/// What follows `run:` or `bash:` at the beginning of a line, to the end of the text.
fn command_in(prompt: &str) -> Option<&str> {
    let mut start = 0;
    for line in prompt.split_inclusive('\n') {
        for prefix in ["run:", "bash:"] {
            let rest = &prompt[start..];
            if rest.get(..prefix.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(prefix)) {
                return Some(rest[prefix.len()..].trim());
            }
        }
        start += line.len();
    }
    None
}

#[cfg(test)]
mod tests {
    use super::command_in;

    #[test]
    fn a_command_is_taken_exactly() {
        assert_eq!(command_in("run: echo 'a  b' | wc -c"), Some("echo 'a  b' | wc -c"));
        assert_eq!(
            command_in("Please\nBASH: for i in 1 2\ndo echo $i; done\n"),
            Some("for i in 1 2\ndo echo $i; done")
        );
        assert_eq!(command_in("a test run: not this"), None);
        assert_eq!(command_in("é: x"), None);
    }
}
