//! One way to look at recordings, whichever agent made them.

use std::{
    fs,
    path::{Path, PathBuf},
};

use serde_json::{Value, json};
use warren_agents::{Codec, Exit, Output};
use warren_domain::{Conversations, Timestamp};

/// The time of everything that has none of its own.
pub(crate) fn now() -> Timestamp {
    Timestamp::from_millis(0)
}

/// The cases of one agent.
pub(crate) fn cases(agent: &str) -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures").join(agent);
    let cases = files(&root);
    assert!(!cases.is_empty(), "there are recordings of {agent}");
    cases
}

/// What a directory holds, sorted; nothing if it is not there.
pub(crate) fn files(directory: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(directory).into_iter().flatten();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
    paths.sort();
    paths
}

/// Everything a codec makes of one process's output.
pub(crate) fn decoded(mut codec: Box<dyn Codec>, stream: &[u8]) -> Vec<Output> {
    let mut out = Vec::new();
    stream.split(|byte| *byte == b'\n').for_each(|line| codec.decode(line, now(), &mut out));
    codec.ended(&Exit::default(), now(), &mut out);
    out
}

/// The blocks that outputs fold to.
pub(crate) fn folded(outputs: &[Output]) -> Conversations {
    let mut live = Conversations::default();
    for output in outputs {
        if let Output::Event(draft) = output {
            live.apply_draft(draft);
        }
    }
    live
}

/// One output as a line of `out.jsonl`.
pub(crate) fn output_line(output: &Output) -> String {
    let value = match output {
        Output::Event(draft) => serde_json::to_value(draft).expect("JSON"),
        Output::Send(bytes) => json!({"type": "send", "bytes": String::from_utf8_lossy(bytes)}),
        Output::Asked(ask) => json!({
            "type": "asked", "key": ask.key, "kind": ask.kind, "toolUseId": ask.tool_use_id, "title": ask.title,
            "detail": ask.detail, "options": ask.options,
        }),
        Output::Withdrawn(key) => json!({"type": "withdrawn", "key": key}),
        Output::Unapproved { tool_name, tool_use_id } => {
            json!({"type": "unapproved", "toolName": tool_name, "toolUseId": tool_use_id})
        }
        Output::State(state) => json!({"type": "state", "state": state}),
        Output::TurnEnded(end) => {
            let mut value = serde_json::to_value(end).expect("JSON");
            value["type"] = json!("turn_ended");
            value
        }
    };
    format!("{value}\n")
}

/// All threads as JSON.
pub(crate) fn blocks(conversations: &Conversations) -> Value {
    let subagents: Vec<Value> =
        conversations.subagents().map(|(id, blocks)| json!({"id": id, "blocks": blocks})).collect();
    json!({"main": conversations.main(), "subagents": subagents})
}

/// Compares `out.jsonl` and `blocks.json` of a case with what was made of it, or writes them.
pub(crate) fn check_case(case: &Path, outputs: &[Output]) {
    let out: String = outputs.iter().map(output_line).collect();
    check_file(&case.join("out.jsonl"), &out);
    let blocks = serde_json::to_string_pretty(&blocks(&folded(outputs))).expect("JSON");
    check_file(&case.join("blocks.json"), &(blocks + "\n"));
}

/// Compares a file of a recording, or writes it.
#[expect(clippy::disallowed_methods, reason = "a switch for whoever runs the test")]
pub(crate) fn check_file(path: &Path, actual: &str) {
    if std::env::var_os("UPDATE_FIXTURES").is_some() {
        return fs::write(path, actual).expect("written");
    }
    let expected = fs::read_to_string(path).unwrap_or_default();
    assert_eq!(actual, expected, "{} (UPDATE_FIXTURES=1 rewrites it)", path.display());
}

/// Feeds `check` with changed recordings for as many seconds as `WARREN_FUZZ_SECONDS` says, one if it says nothing.
/// The changes are the same each time, so that what failed fails again.
#[expect(clippy::disallowed_methods, reason = "a switch for whoever runs the test, and its clock")]
pub(crate) fn fuzz(seeds: &[Vec<u8>], mut check: impl FnMut(&[u8])) {
    let seconds = std::env::var("WARREN_FUZZ_SECONDS").ok().and_then(|text| text.parse().ok()).unwrap_or(1);
    let until = std::time::Instant::now() + std::time::Duration::from_secs(seconds);
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    while std::time::Instant::now() < until {
        let seed = &seeds[random.below(seeds.len())];
        check(&random.changed(seed, seeds));
    }
}

/// Xorshift: enough to change bytes by.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % u64::try_from(limit.max(1)).expect("it fits")).expect("it fits")
    }

    /// A few lines swapped, doubled, dropped or taken from another recording, and a few bytes changed.
    fn changed(&mut self, seed: &[u8], seeds: &[Vec<u8>]) -> Vec<u8> {
        let mut lines: Vec<Vec<u8>> = seed.split(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect();
        for _ in 0..=self.below(4) {
            let (a, b) = (self.below(lines.len()), self.below(lines.len()));
            match self.below(5) {
                0 => lines.swap(a, b),
                1 => lines.insert(a, lines[b].clone()),
                2 => drop((lines.len() > 1).then(|| lines.remove(a))),
                3 => {
                    let other = &seeds[self.below(seeds.len())];
                    let others: Vec<&[u8]> = other.split(|byte| *byte == b'\n').collect();
                    lines[a] = others[self.below(others.len())].to_vec();
                }
                _ => self.change_bytes(&mut lines[a]),
            }
        }
        lines.join(&b'\n')
    }

    fn change_bytes(&mut self, line: &mut Vec<u8>) {
        const BYTES: &[u8] = b"\"{}[]:,\\0aN\xff\0\xe2\x80\xa8";
        for _ in 0..=self.below(6) {
            if line.is_empty() {
                return;
            }
            let place = self.below(line.len());
            match self.below(3) {
                0 => line[place] = BYTES[self.below(BYTES.len())],
                1 => line.insert(place, BYTES[self.below(BYTES.len())]),
                _ => line.truncate(place),
            }
        }
    }
}
