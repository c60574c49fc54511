//! Transcripts and output of Claude Code, beside Node's `JSON.parse` of the same lines alone.
//!
//! The transcript is made of recordings, again and again with new names, with the long answers of tools that real work
//! has. Times are those the thread spent on a core, so that other work on the machine counts little.

use std::{fmt::Write as _, fs, path::Path, process::Command};

use serde_json::{Value, json};
use warren_agents::{Adapter, adapter};
use warren_domain::Timestamp;

use super::table::Table;

const MEGABYTES: usize = 100;
const ROUNDS: usize = 5;

/// Prints the milliseconds of the best of some rounds.
const NODE: &str = "
const fs = require('fs');
const cpu = () => Number(fs.readFileSync('/proc/thread-self/schedstat', 'utf8').split(' ')[0]) / 1e6;
const lines = fs.readFileSync(process.argv[1], 'utf8').split('\\n').filter(Boolean);
let best = Infinity;
for (let round = 0; round < 5; round++) {
  const started = cpu();
  let n = 0;
  for (const line of lines) n += JSON.parse(line).type ? 1 : 0;
  best = Math.min(best, cpu() - started);
}
console.log(best);
";

/// Takes the figures.
pub(crate) fn measure(table: &mut Table) {
    let claude = adapter("claude-code").expect("it is there");
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../agents/fixtures/claude-code");
    let kept = recordings(&fixtures, "transcript.jsonl");
    let what = format!("{MEGABYTES} MB transcript of Claude Code to blocks");
    transcript(table, claude, &what, &repeated(&kept, as_kept));
    transcript(table, claude, "the same, of short lines", &repeated(&kept, as_kept_short));
    let printed = recordings(&fixtures, "in.jsonl");
    live(table, claude, "output of Claude Code, live", &repeated(&printed, as_printed));
    live(table, claude, "the same, of shorter lines", &repeated(&printed, str::to_owned));
}

fn transcript(table: &mut Table, claude: &dyn Adapter, what: &str, transcript: &str) {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("transcript.jsonl");
    fs::write(&file, transcript).unwrap();
    let ours = best(|| claude.parse(transcript.as_bytes(), &[]));
    let reference = node(&file).map_or_else(
        || "no node here".to_owned(),
        |node| format!("{node:.0} ms JSON.parse (× {:.2})", node / (ours * 1e3)),
    );
    let what = format!("{what} ({} bytes a line)", mean_line(transcript));
    table.row(&what, format!("{:.0} ms", ours * 1e3), reference, "≥ 2 × as fast");
    let peak = peak_of_a_parse(&file) / transcript.len() as f64;
    table.row("memory of that, the file included", format!("{peak:.2} × the file"), "", "≤ 2 ×");
}

fn live(table: &mut Table, claude: &dyn Adapter, what: &str, output: &str) {
    // A codec is given lines: finding them is the work of whoever reads the pipe.
    let lines: Vec<&[u8]> = output.as_bytes().split(|byte| *byte == b'\n').collect();
    let ours = best(|| decode(claude, &lines));
    let rate = output.len() as f64 / 1e6 / ours;
    let what = format!("{what} ({} bytes a line)", mean_line(output));
    table.row(&what, format!("{rate:.0} MB/s"), "", "≥ 300 MB/s");
}

fn mean_line(text: &str) -> usize {
    text.len() / text.split('\n').count()
}

/// The most memory, in bytes, that a process of its own needed to read a file and make blocks of it.
fn peak_of_a_parse(file: &Path) -> f64 {
    let program = std::env::current_exe().unwrap();
    let output = Command::new(program).arg(PARSE_ONCE).arg(file).output().unwrap();
    String::from_utf8(output.stdout).unwrap().trim().parse().expect("a number of bytes")
}

/// What such a process is told to do, before the file.
pub(crate) const PARSE_ONCE: &str = "parse-once";

/// Parses a file and prints the most memory that this took, in bytes.
pub(crate) fn parse_once(file: &Path) {
    let bytes = fs::read(file).unwrap();
    let parsed = adapter("claude-code").expect("it is there").parse(&bytes, &[]);
    assert!(!parsed.conversations.main().is_empty());
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).expect("Linux");
    let kilobytes: f64 = peak.trim().trim_end_matches(" kB").parse().expect("kilobytes");
    println!("{}", kilobytes * 1024.0);
}

fn decode(claude: &dyn Adapter, lines: &[&[u8]]) {
    let (mut codec, mut out) = (claude.recorded(), Vec::new());
    for line in lines {
        codec.decode(line, Timestamp::from_millis(0), &mut out);
        out.clear();
    }
}

/// The text of one file of each recording.
fn recordings(fixtures: &Path, name: &str) -> Vec<String> {
    let mut paths: Vec<_> = fs::read_dir(fixtures).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths.iter().filter_map(|path| fs::read_to_string(path.join(name)).ok()).collect()
}

/// Recordings one after another with new names in each, until there is enough.
fn repeated(recordings: &[String], change: fn(&str) -> String) -> String {
    let mut all = String::with_capacity((MEGABYTES + 1) * 1_000_000);
    for (n, recording) in recordings.iter().cycle().enumerate() {
        let named = recording
            .replace("msg_fake_", &format!("msg_{n}_"))
            .replace("toolu_fake_", &format!("toolu_{n}_"));
        for line in renamed_uuids(&named, n).lines() {
            all.push_str(&change(line));
            all.push('\n');
        }
        if all.len() >= MEGABYTES * 1_000_000 {
            break;
        }
    }
    all
}

/// Puts a number into the first part of each UUID that is a field of its own.
fn renamed_uuids(text: &str, n: usize) -> String {
    let mut renamed = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(found) = rest.find("uid\":\"") {
        let (before, after) = rest.split_at(found + 6);
        renamed.push_str(before);
        write!(renamed, "{n:08x}").unwrap();
        rest = after.get(8..).unwrap_or_default();
    }
    renamed + rest
}

/// With the fields that every line of Claude Code has, and that recordings are kept without.
fn as_printed(line: &str) -> String {
    with_fields(
        line,
        &format!(r#","session_id":"{ID}","uuid":"{ID}","api_message_id":"msg_01Q7XyzXyzXyzXyzXyz"}}"#),
    )
}

/// The same for a transcript; and the answers of tools are as long as those of real work: a part of a program.
fn as_kept(line: &str) -> String {
    if !line.contains(r#""tool_result""#) {
        return as_kept_short(line);
    }
    let program = include_str!("agents.rs");
    let mut line: Value = serde_json::from_str(line).unwrap();
    line["message"]["content"][0]["content"] = json!(program);
    line["toolUseResult"] = json!({"type": "text", "file": {"content": program}});
    as_kept_short(&line.to_string())
}

/// A line of a transcript with the answers that were recorded.
fn as_kept_short(line: &str) -> String {
    let usual = format!(
        r#","userType":"external","entrypoint":"sdk-cli","cwd":"/workspace","gitBranch":"HEAD","sessionId":"{ID}"}}"#
    );
    with_fields(line, &usual)
}

const ID: &str = "0d6ccc11-51f8-53bf-b90a-34b83f409d28";

fn with_fields(line: &str, fields: &str) -> String {
    line.strip_suffix('}').map_or_else(|| line.to_owned(), |line| format!("{line}{fields}"))
}

/// The best of some rounds, in seconds.
fn best<T>(mut round: impl FnMut() -> T) -> f64 {
    let rounds = (0..ROUNDS).map(|_| {
        let started = cpu_seconds();
        let made = round();
        let took = cpu_seconds() - started;
        drop(made);
        took
    });
    rounds.fold(f64::MAX, f64::min)
}

fn cpu_seconds() -> f64 {
    let stat = fs::read_to_string("/proc/thread-self/schedstat").expect("Linux");
    stat.split(' ').next().and_then(|ns| ns.parse::<f64>().ok()).expect("nanoseconds") / 1e9
}

fn node(file: &Path) -> Option<f64> {
    let output = Command::new("node").arg("-e").arg(NODE).arg(file).output().ok()?;
    String::from_utf8(output.stdout).ok()?.trim().parse().ok()
}
