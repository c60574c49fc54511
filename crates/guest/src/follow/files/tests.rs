//! Files as programs write them.

use std::{fs, io::Write, path::Path};

use serde_json::Value;
use tempfile::TempDir;

use super::{Files, MAX_LINE, TOLD_OF_LONGER};
use crate::follow::output::Output;

/// A directory and what was followed in it.
struct Followed {
    dir: TempDir,
    files: Files,
}

impl Followed {
    fn new(prepare: impl FnOnce(&Path)) -> Self {
        let dir = tempfile::tempdir().expect("a directory");
        prepare(dir.path());
        let files = Files::from_now(dir.path(), &[".jsonl".to_owned()]);
        Self { dir, files }
    }

    fn append(&self, path: &str, text: impl AsRef<[u8]>) {
        let path = self.dir.path().join(path);
        fs::create_dir_all(path.parent().expect("a parent")).expect("made");
        let mut file = fs::File::options().append(true).create(true).open(path).expect("opened");
        file.write_all(text.as_ref()).expect("written");
    }

    /// What a look at the files gives: the path, the line, and the notes on it.
    fn look(&mut self) -> Vec<(String, String, String)> {
        let mut printed = Vec::new();
        self.files.print_new(&mut Output::new(&mut printed)).expect("printed");
        let text = String::from_utf8(printed).expect("text");
        let line = |line: &str| {
            let value: Value = serde_json::from_str(line).expect("JSON");
            assert_eq!(value["type"], "warren.file");
            let note = |name: &str| if value[name] == true { name } else { "" }.to_owned();
            let text = |name: &str| value[name].as_str().expect("text").to_owned();
            (text("path"), text("line"), note("restart") + &note("cut"))
        };
        text.lines().map(line).collect()
    }
}

fn lines(expected: &[(&str, &str, &str)]) -> Vec<(String, String, String)> {
    expected.iter().map(|(path, line, note)| ((*path).into(), (*line).into(), (*note).into())).collect()
}

#[test]
fn new_files_in_new_directories_are_read_from_their_beginning_and_others_are_left_alone() {
    let mut followed = Followed::new(|_| {});
    followed.append("a/b/one.jsonl", "1\n2\n");
    followed.append("a/one.txt", "no\n");
    assert_eq!(followed.look(), lines(&[("a/b/one.jsonl", "1", ""), ("a/b/one.jsonl", "2", "")]));
    assert_eq!(followed.look(), []);
}

#[test]
fn of_a_file_that_was_there_only_what_is_new_is_printed_with_the_line_that_was_unfinished() {
    let mut followed = Followed::new(|dir| fs::write(dir.join("one.jsonl"), "1\n2\nhal").expect("written"));
    assert_eq!(followed.look(), []);
    followed.append("one.jsonl", "f\n3\n4");
    assert_eq!(followed.look(), lines(&[("one.jsonl", "half", ""), ("one.jsonl", "3", "")]));
    followed.append("one.jsonl", "\n");
    assert_eq!(followed.look(), lines(&[("one.jsonl", "4", "")]));
}

#[test]
fn a_file_that_is_written_anew_starts_again_and_says_so() {
    let mut followed = Followed::new(|_| {});
    followed.append("one.jsonl", "1\n2\n3\n");
    assert_eq!(followed.look().len(), 3);
    fs::write(followed.dir.path().join("one.jsonl"), "4\n").expect("written");
    assert_eq!(followed.look(), lines(&[("one.jsonl", "4", "restart")]));
    fs::write(followed.dir.path().join("new"), "5\n6\n7\n8\n").expect("written");
    fs::rename(followed.dir.path().join("new"), followed.dir.path().join("one.jsonl")).expect("renamed");
    assert_eq!(followed.look()[0], lines(&[("one.jsonl", "5", "restart")])[0]);
}

#[test]
fn a_line_that_is_too_long_is_cut_and_the_next_one_is_whole() {
    let mut followed = Followed::new(|_| {});
    followed.append("one.jsonl", vec![b'x'; MAX_LINE + 10]);
    let cut = followed.look();
    assert_eq!((cut.len(), cut[0].1.len(), cut[0].2.as_str()), (1, TOLD_OF_LONGER, "cut"));
    followed.append("one.jsonl", "xxx\nnext\n");
    assert_eq!(followed.look(), lines(&[("one.jsonl", "next", "")]));
}

#[test]
fn what_is_no_text_is_printed_as_far_as_it_can_be() {
    let mut followed = Followed::new(|_| {});
    followed.append("one.jsonl", b"\xff\xfe\"\n");
    assert_eq!(followed.look(), lines(&[("one.jsonl", "\u{fffd}\u{fffd}\"", "")]));
}

#[test]
fn clearing_removes_the_files_that_would_be_followed_and_nothing_else() {
    let followed = Followed::new(|_| {});
    followed.append("a/one.jsonl", "1\n");
    followed.append("a/one.txt", "1\n");
    Files::clear(followed.dir.path(), &[".jsonl".to_owned()]).expect("cleared");
    let left = ["a/one.jsonl", "a/one.txt"].map(|path| followed.dir.path().join(path).exists());
    assert_eq!(left, [false, true]);
}
