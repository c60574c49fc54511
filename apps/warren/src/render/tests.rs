//! Each directory of `fixtures/render` is a test: `in.jsonl` are events, `out.txt` is what a pipe gets, and
//! `out.ansi` what a terminal gets. `UPDATE_FIXTURES=1` writes the outputs anew.

use std::{fs, path::Path};

use warren_config::Environment;
use warren_domain::Event;

use super::{Look, Paint, Reader, Renderer};
use crate::invocation::Invocation;

fn events(case: &Path) -> Vec<Event> {
    let text = fs::read_to_string(case.join("in.jsonl")).expect("a recording");
    text.lines().map(|line| serde_json::from_str(line).expect("an event")).collect()
}

fn look(reader: Reader, paint: Paint, width: Option<usize>) -> Look {
    Look { reader, paint, width, invocation: Invocation::default(), shows_answers: true }
}

fn render(events: &[Event], look: Look) -> String {
    let mut renderer = Renderer::new(look);
    events.iter().map(|event| renderer.event(event)).collect()
}

fn check(case: &Path, name: &str, text: &str) {
    let path = case.join(name);
    if Environment::of_process().get("UPDATE_FIXTURES").is_some() {
        fs::write(&path, text).expect("written");
    }
    assert_eq!(fs::read_to_string(&path).unwrap_or_default(), text, "{}", path.display());
}

#[test]
fn recordings_look_as_they_did() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/render");
    let mut n_cases = 0;
    for case in fs::read_dir(root).expect("fixtures") {
        let case = case.expect("a directory").path();
        let events = events(&case);
        check(&case, "out.txt", &render(&events, look(Reader::Other, Paint::Plain, None)));
        check(&case, "out.ansi", &render(&events, look(Reader::Sender, Paint::Ansi, Some(80))));
        n_cases += 1;
    }
    assert!(n_cases > 0);
}

/// The lines that say what is going on, one for each event, without repetitions.
fn statuses(events: &[Event]) -> Vec<String> {
    let mut renderer = Renderer::new(look(Reader::Sender, Paint::Plain, None));
    let mut seen: Vec<String> = Vec::new();
    for event in events {
        renderer.event(event);
        let status = renderer.status().unwrap_or_else(|| "-".to_owned());
        if seen.last() != Some(&status) {
            seen.push(status);
        }
    }
    seen
}

#[test]
fn what_is_going_on_is_said_while_no_text_comes() {
    let case = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/render/everything");
    let expected = [
        "-",
        "Starting sandbox…",
        "Working…",
        "-",
        "Working…",
        "-",
        "Working…",
        "bash  ls -la",
        "read  missing.csv (and 1 more)",
        "bash  ls -la",
        "Working…",
        "task  Find the sales",
        "Working…",
        "grep  sales",
        "Working…",
        "write  outputs/index.html",
        "Working…",
        "-",
        "Working…",
        "-",
    ];
    assert_eq!(statuses(&events(&case)), expected);
}
