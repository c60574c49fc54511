use std::{fs, path::Path};

use serde_json::{Value, json};
use tempfile::TempDir;

use super::{Output, Tool, edit, glob, grep, read, todo, write};

/// A directory with these files.
fn workspace(files: &[(&str, &str)]) -> TempDir {
    let root = tempfile::tempdir().expect("a directory");
    for (path, text) in files {
        let path = root.path().join(path);
        fs::create_dir_all(path.parent().expect("a parent")).expect("made");
        fs::write(path, text).expect("written");
    }
    root
}

#[track_caller]
fn check<T: Into<Output>>(tool: fn(&Path, Value) -> T, root: &Path, input: Value, expect: &str) {
    assert_eq!(tool(root, input).into(), Ok(expect.to_owned()).into());
}

#[track_caller]
fn check_fails<T: Into<Output>>(tool: fn(&Path, Value) -> T, root: &Path, input: Value, expect: &str) {
    let output: Output = tool(root, input).into();
    assert!(output.is_error && output.text.contains(expect), "{output:?}");
}

#[test]
fn every_schema_is_an_object_under_the_tools_own_name() {
    for tool in Tool::ALL {
        let schema = tool.schema(&[]);
        assert_eq!(schema["name"], tool.name());
        assert_eq!(schema["input_schema"]["type"], "object", "{}", tool.name());
        assert!(schema["description"].as_str().is_some_and(|text| text.len() > 50), "{}", tool.name());
    }
}

#[test]
fn a_file_is_read_by_ranges_of_numbered_lines() {
    let root = workspace(&[("a.txt", "one\r\ntwo\nthree\nfour"), ("empty", "")]);
    check(read::run, root.path(), json!({"path": "a.txt"}), "1\tone\n2\ttwo\n3\tthree\n4\tfour\n");
    check(
        read::run,
        root.path(),
        json!({"path": "a.txt", "offset": 2, "limit": 1}),
        "2\ttwo\n[there is more: go on with offset 3]\n",
    );
    check(read::run, root.path(), json!({"path": "a.txt", "offset": 4, "limit": 9}), "4\tfour\n");
    check(read::run, root.path(), json!({"path": "empty"}), "(the file is empty)");
    check_fails(read::run, root.path(), json!({"path": "a.txt", "offset": 5}), "only 4 lines");
    check(read::run, Path::new("/"), json!({"path": root.path().join("empty")}), "(the file is empty)");
}

#[test]
fn a_long_file_is_read_in_pieces_that_fit() {
    let root =
        workspace(&[("wide", &format!("{}\nnext\n", "x".repeat(5_000))), ("long", &"line\n".repeat(50_000))]);
    let wide = read::run(root.path(), json!({"path": "wide"})).text;
    assert_eq!(wide, format!("1\t{}… [line cut]\n2\tnext\n", "x".repeat(2_000)));
    let long = read::run(root.path(), json!({"path": "long", "limit": 40_000})).text;
    assert!(long.len() < 70_000 && long.contains("[there is more: go on with offset "), "{}", long.len());
}

#[test]
fn what_is_not_a_text_file_is_not_read() {
    let root = workspace(&[("binary", "a\0b")]);
    check_fails(read::run, root.path(), json!({"path": "binary"}), "is not text");
    check_fails(read::run, root.path(), json!({"path": "."}), "is a directory");
    check_fails(read::run, root.path(), json!({"path": "/dev/zero"}), "is not a regular file");
}

#[test]
fn a_file_is_written_with_the_directories_it_needs() {
    let root = workspace(&[]);
    let path = "outputs/deep/a.txt";
    check(
        write::run,
        root.path(),
        json!({"path": path, "content": "1\n2\n"}),
        "Created `outputs/deep/a.txt` (2 lines)",
    );
    check(
        write::run,
        root.path(),
        json!({"path": path, "content": ""}),
        "Replaced `outputs/deep/a.txt` (0 lines)",
    );
    check_fails(write::run, root.path(), json!({"path": "outputs", "content": ""}), "failed to write");
}

#[test]
fn an_edit_replaces_what_is_there_exactly_once_unless_told_otherwise() {
    let root = workspace(&[("a.txt", "a b a")]);
    let edit = |old: &str, new: &str, all: bool| json!({"path": "a.txt", "old_text": old, "new_text": new, "replace_all": all});
    check_fails(edit::run, root.path(), edit("a", "c", false), "is 2 times in");
    check_fails(edit::run, root.path(), edit("z", "c", false), "is not in");
    check_fails(edit::run, root.path(), edit("", "c", false), "is empty");
    check_fails(edit::run, root.path(), edit("b", "b", false), "are the same");
    check(edit::run, root.path(), edit("b", "$1", false), "Replaced once in `a.txt`");
    check(edit::run, root.path(), edit("a", "c", true), "Replaced 2 times in `a.txt`");
    assert_eq!(fs::read_to_string(root.path().join("a.txt")).expect("readable"), "c $1 c");
}

#[test]
fn files_are_found_by_pattern_without_what_is_ignored() {
    let root = workspace(&[
        (".gitignore", "target/\n"),
        (".git/config", ""),
        ("src/a.rs", ""),
        ("src/deep/b.rs", ""),
        ("target/c.rs", ""),
        ("d.txt", ""),
    ]);
    let found = |input: Value| {
        let text = glob::run(root.path(), input).expect("it can look");
        let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
        lines.sort();
        lines
    };
    assert_eq!(found(json!({"pattern": "*.rs"})), ["src/a.rs", "src/deep/b.rs"]);
    assert_eq!(found(json!({"pattern": "src/*.rs"})), ["src/a.rs"]);
    assert_eq!(found(json!({"pattern": "**/*.{rs,txt}", "path": "src/deep"})), ["src/deep/b.rs"]);
    assert_eq!(found(json!({"pattern": "*.py"})), ["No files found"]);
    assert_eq!(found(json!({"pattern": "config"})), ["No files found"]);
    check_fails(glob::run, root.path(), json!({"pattern": "[", "path": "src"}), "the pattern cannot be used");
    check_fails(glob::run, root.path(), json!({"pattern": "*", "path": "nowhere"}), "failed to look into");
}

#[test]
fn lines_are_found_by_expression_and_shown_in_three_ways() {
    let root = workspace(&[("a.txt", "one\nTwo\nthree\ntwo\n"), ("b/c.md", "two\n"), ("binary", "two\0")]);
    let grep = |input: Value, expect: &str| check(grep::run, root.path(), input, expect);
    grep(json!({"pattern": "two"}), "a.txt:4:two\nb/c.md:1:two");
    grep(json!({"pattern": "TWO", "ignore_case": true, "path": "a.txt"}), "a.txt:2:Two\na.txt:4:two");
    grep(json!({"pattern": "^t", "glob": "*.md"}), "b/c.md:1:two");
    grep(json!({"pattern": "two", "output": "files"}), "a.txt\nb/c.md");
    grep(json!({"pattern": "[tT]", "output": "count"}), "a.txt:3\nb/c.md:1");
    grep(json!({"pattern": "Two", "context": 1}), "a.txt:1-one\na.txt:2:Two\na.txt:3-three");
    grep(json!({"pattern": "zebra"}), "No matches found");
    let more = "a.txt:4:two\n[there may be more: narrow the search, or raise `limit`]";
    grep(json!({"pattern": "two", "limit": 1}), more);
    check_fails(grep::run, root.path(), json!({"pattern": "("}), "the pattern cannot be used");
}

#[test]
fn context_that_overlaps_is_shown_once_and_gaps_are_marked() {
    let root = workspace(&[("a", "hit\n1\nhit\n2\n3\n4\n5\nhit\n")]);
    let expect = "a:1:hit\na:2-1\na:3:hit\na:4-2\n--\na:7-5\na:8:hit";
    check(grep::run, root.path(), json!({"pattern": "hit", "context": 1}), expect);
}

#[test]
fn a_plan_must_be_a_list_of_known_states() {
    assert_eq!(todo::run(json!({"todos": []})), Ok("The list is empty.".to_owned()));
    let wrong = todo::run(json!({"todos": [{"content": "a", "status": "someday"}]}));
    assert!(wrong.expect_err("it fails").contains("unknown variant `someday`"));
}
