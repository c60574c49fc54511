//! What no agent writes, through every parser and every codec: a line of 100 MB, nesting without end, bytes that are no
//! text, kinds nobody knows. Nothing fails, and what stands beside it is read.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use warren_agents::{Adapter, Output, adapters};
use warren_domain::EventBody;

use crate::support::{cases, decoded, files};

/// One line of this many bytes.
const LONG: usize = 100_000_000;

/// A recording of each agent: its transcript, and what it printed.
struct Seed {
    adapter: &'static dyn Adapter,
    saved: Vec<u8>,
    stream: Vec<u8>,
}

/// All files of a folder, with those beneath it.
fn all_files(folder: &Path) -> Vec<PathBuf> {
    let inner = |path: PathBuf| if path.is_dir() { all_files(&path) } else { vec![path] };
    files(folder).into_iter().flat_map(inner).collect()
}

/// The first file of an agent's recordings of which something can be made.
fn first(adapter: &dyn Adapter, makes: impl Fn(&[u8]) -> bool) -> Vec<u8> {
    let agent = adapter.agent_type().to_string();
    let all =
        cases(&agent).into_iter().flat_map(|case| if case.is_dir() { all_files(&case) } else { vec![case] });
    let mut contents = all.map(|path| std::fs::read(path).expect("a recording"));
    contents.find(|content| makes(content)).unwrap_or_else(|| panic!("a recording of {agent}"))
}

fn seeds() -> Vec<Seed> {
    let is_saved = |adapter: &'static dyn Adapter| {
        move |content: &[u8]| !adapter.parse(content, &[]).conversations.main().is_empty()
    };
    let is_stream = |adapter: &'static dyn Adapter| {
        move |content: &[u8]| n_whole(&decoded(adapter.recorded(), content)) > 0
    };
    let seed = |adapter: &&'static dyn Adapter| Seed {
        adapter: *adapter,
        saved: first(*adapter, is_saved(*adapter)),
        stream: first(*adapter, is_stream(*adapter)),
    };
    adapters().iter().map(seed).collect()
}

/// How many blocks are whole.
fn n_whole(outputs: &[Output]) -> usize {
    let is_block = |output: &&Output| matches!(output, Output::Event(draft) if matches!(draft.body, EventBody::BlockComplete { .. }));
    outputs.iter().filter(is_block).count()
}

/// Lines that nobody writes. What an agent prints in earnest stands before and after each.
fn strange_lines() -> Vec<(&'static str, Vec<u8>)> {
    let deep = "[".repeat(200_000);
    let closed = format!("{{\"type\":\"assistant\",\"message\":{deep}{}}}", "]".repeat(200_000));
    vec![
        ("deep and open", deep.into_bytes()),
        ("deep and closed", closed.into_bytes()),
        ("deep objects", "{\"a\":".repeat(200_000).into_bytes()),
        ("no text", vec![0xff, 0xfe, b'{', 0x80, b'}', 0xc3]),
        ("NUL", vec![0; 1000]),
        ("a kind nobody knows", json!({"type": "brand.new", "x": [1, 2]}).to_string().into_bytes()),
        (
            "numbers without measure",
            b"{\"type\":\"result\",\"usage\":{\"input_tokens\":1e999,\"x\":-1e400}}".to_vec(),
        ),
        (
            "everything wrong",
            json!({"type": 5, "message": "x", "uuid": [], "payload": null}).to_string().into_bytes(),
        ),
        ("half a character", b"{\"type\":\"user\",\"message\":{\"content\":\"\\ud83d\"}}".to_vec()),
    ]
}

/// A recording with a line before each of its lines.
fn with(stream: &[u8], strange: &[u8]) -> Vec<u8> {
    let lines = stream.split(|byte| *byte == b'\n').take(200);
    lines.flat_map(|line| [strange, line]).collect::<Vec<_>>().join(&b'\n')
}

fn n_ends(outputs: &[Output]) -> usize {
    outputs.iter().filter(|output| matches!(output, Output::TurnEnded(_))).count()
}

#[test]
fn strange_lines_fail_nothing_and_hide_nothing() {
    for seed in seeds() {
        let agent = seed.adapter.agent_type();
        let whole = decoded(seed.adapter.recorded(), &seed.stream);
        for (name, strange) in strange_lines() {
            seed.adapter.parse(&strange, &[("x".to_owned(), strange.clone())]);
            seed.adapter.parse(&with(&seed.saved, &strange), &[]);
            let outputs = decoded(seed.adapter.recorded(), &strange);
            assert_eq!(n_ends(&outputs), 1, "{agent}: {name} alone");
            // Once in front of everything: what an agent prints in earnest is read as without it.
            let outputs = decoded(seed.adapter.recorded(), &[&strange, &b"\n"[..], &seed.stream].concat());
            assert_eq!(n_ends(&outputs), 1, "{agent}: {name}");
            assert!(n_whole(&outputs) >= n_whole(&whole), "{agent}: {name} hides what follows");
        }
    }
}

/// A line the agent knows, with a field that has no end; and one that is nothing but text.
fn check_long_lines(agent: &str) {
    let seeds = seeds();
    let of_agent = |seed: &&Seed| seed.adapter.agent_type().to_string() == agent;
    let seed = seeds.iter().find(of_agent).expect("an agent we know");
    let text = "x".repeat(LONG);
    let known = seed.stream.split(|byte| *byte == b'\n').find_map(|line| serde_json::from_slice(line).ok());
    let mut known: Value = known.unwrap_or_else(|| json!({"type": "message.updated"}));
    known["warren_long"] = json!(text);
    for line in [known.to_string().into_bytes(), text.into_bytes()] {
        assert!(line.len() >= LONG);
        assert_eq!(n_ends(&decoded(seed.adapter.recorded(), &line)), 1, "{agent}");
        seed.adapter.parse(&line, &[]);
    }
}

/// One test for each, so that one that takes for ever is known by its name.
macro_rules! a_line_of_a_hundred_megabytes_passes {
    ($($name:ident: $agent:literal,)*) => {$(
        #[test]
        fn $name() {
            check_long_lines($agent);
        }
    )*};
}

a_line_of_a_hundred_megabytes_passes! {
    a_line_of_a_hundred_megabytes_passes_the_built_in_agents_parsers: "builtin",
    a_line_of_a_hundred_megabytes_passes_claude_codes_parsers: "claude-code",
    a_line_of_a_hundred_megabytes_passes_geminis_parsers: "gemini-cli",
    a_line_of_a_hundred_megabytes_passes_opencodes_parsers: "opencode",
    a_line_of_a_hundred_megabytes_passes_codexs_parsers: "codex",
    a_line_of_a_hundred_megabytes_passes_acps_parsers: "acp",
}
