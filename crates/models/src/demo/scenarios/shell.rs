//! Commands for the shell.

use super::{has_phrase, number_after};
use crate::demo::{conversation::Conversation, turn::Turn};

const MAX_SLEEP_S: u64 = 3600;
const MAX_OUTPUT_MB: u64 = 256;
const MAX_TIMES: usize = 1000;

/// What was asked for: a command, and how often.
#[derive(Debug, PartialEq, Eq)]
struct Asked<'a> {
    command: &'a str,
    n_times: usize,
}

pub(in crate::demo) fn is_command(conversation: &Conversation) -> bool {
    asked_in(&conversation.prompt).is_some()
}

/// `run: COMMAND` runs exactly that; `run N times: COMMAND` so often, one call after the other.
pub(in crate::demo) fn command(conversation: &Conversation) -> Vec<Turn> {
    let Some(Asked { command, n_times }) = asked_in(&conversation.prompt) else { return Vec::new() };
    let failed = conversation.latest().last().is_some_and(|result| result.is_error);
    let verdict = if failed { "The command failed:" } else { "The command printed:" };
    let call = || Turn::new().call(conversation.toolbox.bash(command, "Run the given command"));
    let mut turns: Vec<Turn> = (0..n_times).map(|_| call()).collect();
    turns.push(Turn::new().say(format!("{verdict}\n\n{}", conversation.latest_quoted())));
    turns
}

pub(in crate::demo) fn is_sleep(conversation: &Conversation) -> bool {
    number_after(&conversation.prompt, &["sleep"]).is_some()
}

pub(in crate::demo) fn sleep(conversation: &Conversation) -> Vec<Turn> {
    let seconds = number_after(&conversation.prompt, &["sleep"]).unwrap_or_default().min(MAX_SLEEP_S);
    let call = conversation.toolbox.sleep(seconds);
    let failed = conversation.latest().iter().any(|result| result.is_error);
    vec![
        Turn::new().say(format!("Waiting for {seconds} seconds.")).call(call),
        Turn::new().say(if failed {
            "The wait was interrupted.".to_owned()
        } else {
            format!("Waited for {seconds} seconds.")
        }),
    ]
}

pub(in crate::demo) fn is_big_output(conversation: &Conversation) -> bool {
    has_phrase(&conversation.prompt, "big output")
}

/// A tool that says more than anyone wants to read.
pub(in crate::demo) fn big_output(conversation: &Conversation) -> Vec<Turn> {
    let megabytes = number_after(&conversation.prompt, &["output"]).unwrap_or(1).clamp(1, MAX_OUTPUT_MB);
    let command = format!("yes 'a line of long output' | head -c {}", megabytes * 1_000_000);
    let received: usize = conversation.latest().iter().map(|result| result.text.len()).sum();
    vec![
        Turn::new().call(conversation.toolbox.bash(&command, &format!("Print {megabytes} MB"))),
        Turn::new().say(format!("The tool printed {megabytes} MB; I received {received} bytes of it.")),
    ]
}

/// What follows `run:`, `bash:` or `run N times:` at the beginning of a line, to the end of the text.
fn asked_in(prompt: &str) -> Option<Asked<'_>> {
    let mut start = 0;
    for line in prompt.split_inclusive('\n') {
        let rest = &prompt[start..];
        if let Some((before, after)) = rest.split_once(':')
            && let Some(n_times) = times_in(before)
        {
            return Some(Asked { command: after.trim(), n_times });
        }
        start += line.len();
    }
    None
}

/// How often, where these are the words before a command.
fn times_in(words: &str) -> Option<usize> {
    let words: Vec<String> = words.split(' ').map(str::to_ascii_lowercase).collect();
    match words.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["run" | "bash"] => Some(1),
        ["run", n, "times"] => n.parse().ok().map(|n: usize| n.clamp(1, MAX_TIMES)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::{Asked, MAX_TIMES, asked_in};

    fn once(command: &str) -> Option<Asked<'_>> {
        Some(Asked { command, n_times: 1 })
    }

    #[test]
    fn a_command_is_taken_exactly() {
        assert_eq!(asked_in("run: echo 'a  b' | wc -c"), once("echo 'a  b' | wc -c"));
        assert_eq!(
            asked_in("Please\nBASH: for i in 1 2\ndo echo $i; done\n"),
            once("for i in 1 2\ndo echo $i; done")
        );
        assert_eq!(asked_in("a test run: not this"), None);
        assert_eq!(asked_in("é: x"), None);
    }

    #[test]
    fn a_command_is_run_as_often_as_asked_for() {
        assert_eq!(asked_in("run 100 times: true"), Some(Asked { command: "true", n_times: 100 }));
        assert_eq!(asked_in("Run 3 times: a:b"), Some(Asked { command: "a:b", n_times: 3 }));
        assert_eq!(asked_in("run 9999999 times: true").map(|asked| asked.n_times), Some(MAX_TIMES));
        assert_eq!(asked_in("run 0 times: true").map(|asked| asked.n_times), Some(1));
        assert_eq!(asked_in("run many times: true"), None);
    }
}
