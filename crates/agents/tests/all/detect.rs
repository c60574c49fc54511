//! Which agent wrote a file, told by the file alone.

use std::{
    fs,
    path::{Path, PathBuf},
};

use warren_agents::detect;

use crate::support::files;

const AGENTS: [&str; 6] = ["acp", "builtin", "claude-code", "codex", "gemini-cli", "opencode"];

/// What we make of recordings is no recording.
const OURS: [&str; 3] = ["out.jsonl", "blocks.json", "exit_code.txt"];

fn recordings(path: &Path, found: &mut Vec<PathBuf>) {
    if path.is_dir() {
        files(path).iter().for_each(|inner| recordings(inner, found));
    } else if !OURS.iter().any(|name| path.to_string_lossy().ends_with(name)) {
        found.push(path.to_owned());
    }
}

#[test]
fn every_recording_shows_whose_it_is() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures");
    let (mut n_files, mut wrong) = (0, Vec::new());
    for agent in AGENTS {
        let mut all = Vec::new();
        recordings(&root.join(agent), &mut all);
        assert!(!all.is_empty(), "{agent}");
        for path in all {
            n_files += 1;
            let told = detect(&fs::read(&path).expect("readable")).map(|told| told.agent_type().0);
            if told.as_deref() != Some(agent) {
                wrong.push((path, told));
            }
        }
    }
    assert_eq!(wrong, [], "of {n_files}");
}

#[test]
fn what_nobody_wrote_is_nobodys() {
    let long = format!("{{\"a\": \"{}\"}}", "x".repeat(2 << 20));
    let deep = "[".repeat(100_000);
    for content in ["", "\n\n", "hello\nworld\n", "{}", "[]", "{\"type\": \"user\"}", "\u{0}", &long, &deep] {
        assert!(detect(content.as_bytes()).is_none(), "{}", &content[..content.len().min(40)]);
    }
    assert!(detect(b"\xff\xfe{").is_none());
}

#[test]
fn a_document_is_known_even_if_it_is_one_long_line() {
    let filler = "x".repeat(2 << 20);
    for line in [
        format!("{{\"info\": {{}}, \"messages\": [\"{filler}\"]}}"),
        format!("{{\n\"info\": {{}},\n\"messages\": [\"{filler}\"]\n}}"),
    ] {
        let told = detect(line.as_bytes()).map(|told| told.agent_type().0);
        assert_eq!(told.as_deref(), Some("opencode"));
    }
}
