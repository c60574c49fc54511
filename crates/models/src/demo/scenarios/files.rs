//! Files: writing, listing, reading.

use super::{counted, mentions};
use crate::demo::{conversation::Conversation, turn::Turn};

const HAIKU: &str = "Warren in the hill:\nevery run leaves its own track,\nnone of them is lost.\n";

pub(in crate::demo) fn is_write(conversation: &Conversation) -> bool {
    let prompt = &conversation.prompt;
    mentions(prompt, &["write", "create", "make", "save"])
        && (mentions(prompt, &["file"]) || file_name(prompt).is_some_and(looks_like_a_file))
}

pub(in crate::demo) fn write(conversation: &Conversation) -> Vec<Turn> {
    let name = file_name(&conversation.prompt).unwrap_or("notes.md");
    let content = content_in(&conversation.prompt);
    vec![
        Turn::new()
            .think("I'll write the file and say where it is.")
            .say(format!("Writing `{name}`."))
            .call(conversation.toolbox.write(name, &content)),
        Turn::new().say(format!("Wrote `{name}` ({} bytes).", content.len())),
    ]
}

pub(in crate::demo) fn is_list(conversation: &Conversation) -> bool {
    let prompt = &conversation.prompt;
    mentions(prompt, &["list", "show", "which", "what"])
        && mentions(prompt, &["files", "folder", "directory"])
}

pub(in crate::demo) fn list(conversation: &Conversation) -> Vec<Turn> {
    let toolbox = &conversation.toolbox;
    let call =
        toolbox.glob("**/*").or_else(|| toolbox.bash("find . -type f | sort | head -n 200", "List files"));
    vec![
        Turn::new().say("Listing the files.").call(call),
        Turn::new().say(format!("The workspace contains:\n\n{}", conversation.latest_quoted())),
    ]
}

pub(in crate::demo) fn is_read(conversation: &Conversation) -> bool {
    mentions(&conversation.prompt, &["read", "show", "open", "cat"])
        && file_name(&conversation.prompt).is_some()
}

pub(in crate::demo) fn read(conversation: &Conversation) -> Vec<Turn> {
    let name = file_name(&conversation.prompt).unwrap_or_default();
    let toolbox = &conversation.toolbox;
    let call =
        toolbox.read(name).or_else(|| toolbox.bash(&format!("cat -- '{name}'"), &format!("Read {name}")));
    let lines = counted(conversation.latest().last().map_or(0, |result| result.text.lines().count()), "line");
    vec![
        Turn::new().call(call),
        Turn::new().say(format!("`{name}` has {lines}:\n\n{}", conversation.latest_quoted())),
    ]
}

/// The word that looks like a file's name, or else the one after `file`, `named` or `called`.
fn file_name(prompt: &str) -> Option<&str> {
    let head = content_start(prompt).map_or(prompt, |at| &prompt[..at]);
    let words: Vec<&str> = head.split_whitespace().map(bare).filter(|word| !word.is_empty()).collect();
    let names_it = |word: &str| ["file", "named", "called"].contains(&word.to_lowercase().as_str());
    let after_key = words.windows(2).rev().find(|pair| names_it(pair[0]) && !names_it(pair[1]));
    words.iter().copied().find(|word| looks_like_a_file(word)).or(after_key.map(|pair| pair[1]))
}

fn looks_like_a_file(word: &str) -> bool {
    let name = word.rsplit('/').next().unwrap_or(word);
    let extension = name.rsplit_once('.').map(|(stem, extension)| (!stem.is_empty(), extension));
    extension.is_some_and(|(has_stem, extension)| {
        has_stem && (1..=5).contains(&extension.len()) && extension.chars().all(char::is_alphanumeric)
    })
}

fn bare(word: &str) -> &str {
    word.trim_matches(|c: char| "\"'`“”,;:!?()".contains(c)).trim_end_matches('.')
}

/// What follows `with`, `containing` or `saying`; a haiku if that is what is wanted, or nothing is said.
fn content_in(prompt: &str) -> String {
    let wanted = content_start(prompt).map(|at| prompt[at..].trim()).unwrap_or_default();
    let wanted =
        wanted.split_once(' ').map(|(_, rest)| rest.trim_matches(['"', '\'', '`'])).unwrap_or_default();
    if wanted.is_empty() || mentions(wanted, &["haiku", "poem"]) {
        HAIKU.to_owned()
    } else {
        format!("{wanted}\n")
    }
}

fn content_start(prompt: &str) -> Option<usize> {
    [" with ", " containing ", " saying "].iter().filter_map(|key| prompt.find(key)).min()
}

#[cfg(test)]
mod tests {
    use super::{HAIKU, content_in, file_name};

    #[test]
    fn name_and_content_are_found_in_a_sentence() {
        assert_eq!(file_name("Create file `notes.md` with a haiku"), Some("notes.md"));
        assert_eq!(file_name("write a file called outputs/a/b.txt."), Some("outputs/a/b.txt"));
        assert_eq!(file_name("make a file named TODO"), Some("TODO"));
        assert_eq!(file_name("list the files"), None);
        assert_eq!(content_in("create file a.txt with \"hello, world\""), "hello, world\n");
        assert_eq!(content_in("create file a.txt"), HAIKU);
        assert_eq!(content_in("create file a.txt with a haiku"), HAIKU);
    }
}
