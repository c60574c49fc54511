//! Every event as Socket.IO and `/api/build` tell it, and the table of `docs/protocols.md` that follows.
#![allow(clippy::disallowed_methods, reason = "a test may be told to rewrite its files")]
#![expect(clippy::expect_used, reason = "a test's helpers fail the test")]

use std::{
    collections::{BTreeMap, BTreeSet},
    env, fs,
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};
use serde_json::Value;
use warren_domain::Event;
use warren_wire::{Packets, socket_messages};

/// What one entry of a log becomes.
#[derive(Serialize, Deserialize)]
struct Told {
    event: Value,
    socket: Vec<Value>,
    packets: Vec<Value>,
}

/// Types of events that exist, by the OpenAPI document.
fn all_types() -> BTreeSet<String> {
    let document = warren_wire::openapi("0");
    let variants =
        document["components"]["schemas"]["EventBody"]["oneOf"].as_array().expect("variants").clone();
    variants.iter().map(kind_of_variant).collect()
}

fn kind_of_variant(variant: &Value) -> String {
    let direct = &variant["properties"]["type"]["enum"][0];
    let inside = variant["allOf"].as_array().and_then(|parts| {
        parts.iter().find_map(|part| part["properties"]["type"]["enum"][0].as_str().map(str::to_owned))
    });
    direct.as_str().map(str::to_owned).or(inside).expect("every variant names its type")
}

fn directory() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/projections")
}

/// The entries of every case, told anew.
fn cases() -> BTreeMap<String, Vec<Told>> {
    let mut cases = BTreeMap::new();
    for entry in fs::read_dir(directory()).expect("cases") {
        let path = entry.expect("a case").path();
        let text = fs::read_to_string(&path).expect("it is read");
        let mut packets = Packets::default();
        let told = text.lines().map(|line| {
            let written: Value = serde_json::from_str(line).expect("a line is JSON");
            let event: Event = serde_json::from_value(written["event"].clone()).expect("an event");
            let socket =
                socket_messages(&event).into_iter().map(|it| serde_json::to_value(it).expect("JSON"));
            let packets = packets.project(&event);
            let packets = packets.iter().map(|it| serde_json::to_value(it).expect("JSON"));
            Told { event: written["event"].clone(), socket: socket.collect(), packets: packets.collect() }
        });
        let name = path.file_stem().expect("a name").to_string_lossy().into_owned();
        cases.insert(name, told.collect());
    }
    cases
}

fn text_of(case: &[Told]) -> String {
    case.iter().map(|told| serde_json::to_string(told).expect("JSON") + "\n").collect()
}

fn check(path: &Path, expected: &str) {
    let mut committed = fs::read_to_string(path).unwrap_or_default();
    // Other tests may be reading it: it is written only if it must be.
    if committed != expected && env::var_os("UPDATE_FIXTURES").is_some() {
        fs::write(path, expected).expect("it is written");
        committed = expected.to_owned();
    }
    assert!(committed == expected, "{} has drifted; UPDATE_FIXTURES=1 rewrites it", path.display());
}

#[test]
fn every_case_is_told_as_it_is_written() {
    for (name, case) in cases() {
        check(&directory().join(name).with_extension("jsonl"), &text_of(&case));
    }
}

#[test]
fn every_event_and_every_packet_is_in_some_case() {
    let cases = cases();
    let told = || cases.values().flatten();
    let events: BTreeSet<_> =
        told().map(|it| it.event["type"].as_str().expect("a type").to_owned()).collect();
    assert_eq!(events, all_types());
    let packets: BTreeSet<_> =
        told().flat_map(|it| &it.packets).map(|packet| packet["type"].as_str().expect("a type")).collect();
    assert_eq!(packets.into_iter().collect::<Vec<_>>(), PACKETS);
}

/// The packets there are, with exactly these fields; a `?` marks what may be absent.
const FIELDS: &[(&str, &[&str])] = &[
    ("done", &["summary?"]),
    ("error", &["code?", "message", "recoverable"]),
    ("step_start", &["step_id", "title?"]),
    ("step_delta", &["content", "step_id"]),
    ("step_end", &["status", "step_id"]),
    ("output_start", &[]),
    ("output_delta", &["content"]),
    ("artifact_created", &["artifact"]),
    ("artifact_updated", &["artifact", "changes?"]),
    ("tool_start", &["tool_input?", "tool_name"]),
    ("tool_output", &["is_error", "output?", "tool_name"]),
    ("tool_end", &["status", "tool_name"]),
    ("file_write", &["path", "size_bytes?"]),
    ("file_delete", &["path"]),
];

/// Those that some case must show.
const PACKETS: &[&str] = &[
    "artifact_created",
    "artifact_updated",
    "done",
    "error",
    "file_delete",
    "file_write",
    "output_delta",
    "output_start",
    "step_delta",
    "step_end",
    "step_start",
    "tool_end",
    "tool_output",
    "tool_start",
];

#[test]
fn a_packet_has_exactly_its_fields_and_a_timestamp() {
    for packet in cases().values().flatten().flat_map(|told| &told.packets) {
        let mut found: BTreeSet<&str> =
            packet.as_object().expect("an object").keys().map(String::as_str).collect();
        assert!(found.remove("timestamp") && found.remove("type"), "{packet}");
        let kind = packet["type"].as_str().expect("a type");
        let (_, fields) = FIELDS.iter().find(|(name, _)| *name == kind).expect("a known packet");
        for field in *fields {
            let name = field.trim_end_matches('?');
            assert!(found.remove(name) || field.ends_with('?'), "{kind} lacks {name}: {packet}");
        }
        assert!(found.is_empty(), "{kind} has more than it should: {packet}");
    }
}

#[test]
fn every_message_carries_its_number_and_its_session() {
    for told in cases().values().flatten() {
        for message in &told.socket {
            assert_eq!(message["payload"]["seq"], told.event["seq"], "{message}");
            assert_eq!(message["payload"]["sessionId"], told.event["sessionId"], "{message}");
        }
    }
}

#[test]
fn what_begins_also_ends() {
    for (name, case) in cases() {
        let mut steps = BTreeSet::new();
        let mut tools = 0_i32;
        for packet in case.iter().flat_map(|told| &told.packets) {
            match packet["type"].as_str().expect("a type") {
                "step_start" => {
                    assert!(steps.insert(packet["step_id"].clone().to_string()), "{name}: {packet}")
                }
                "step_end" => assert!(steps.remove(&packet["step_id"].to_string()), "{name}: {packet}"),
                "tool_start" => tools += 1,
                "tool_end" => tools -= 1,
                "done" | "error" => assert_eq!((steps.len(), tools), (0, 0), "{name}"),
                _ => {}
            }
        }
        assert_eq!((steps.len(), tools), (0, 0), "{name}");
    }
}

const BEGIN: &str = "<!-- generated: events -->\n";
const END: &str = "<!-- end of generated -->";

#[test]
fn the_table_in_the_documentation_is_what_the_code_does() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/protocols.md");
    let text = fs::read_to_string(&path).expect("the page is there");
    let (before, rest) = text.split_once(BEGIN).expect("the table begins");
    let (_, after) = rest.split_once(END).expect("the table ends");
    check(&path, &format!("{before}{BEGIN}{}{END}{after}", table()));
}

fn table() -> String {
    let mut rows: BTreeMap<String, (BTreeSet<String>, BTreeSet<String>)> = BTreeMap::new();
    for told in cases().into_values().flatten() {
        let row = rows.entry(told.event["type"].as_str().expect("a type").to_owned()).or_default();
        row.0.extend(told.socket.iter().map(|it| it["name"].as_str().expect("a name").to_owned()));
        row.1.extend(told.packets.iter().map(|it| it["type"].as_str().expect("a type").to_owned()));
    }
    let mut table = String::from("| event: REST and SSE | Socket.IO | `/api/build` |\n|---|---|---|\n");
    for (kind, (socket, packets)) in rows {
        table += &format!("| `{kind}` | {} | {} |\n", cell(&socket), cell(&packets));
    }
    table
}

fn cell(names: &BTreeSet<String>) -> String {
    if names.is_empty() {
        return "–".to_owned();
    }
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}
