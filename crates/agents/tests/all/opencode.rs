//! OpenCode: `events.sse` is its stream of events as it came, `messages.json` what its API says of the session and its
//! children afterwards.

use std::{fs, path::PathBuf};

use warren_agents::{Adapter, Output, adapter};
use warren_domain::Conversations;

use crate::support::{blocks, cases, decoded, folded};

struct Recording {
    directory: PathBuf,
    stream: Vec<u8>,
    saved: Vec<u8>,
}

fn opencode() -> &'static dyn Adapter {
    adapter("opencode").expect("an agent we know")
}

fn recordings() -> Vec<Recording> {
    let read = |directory: PathBuf| {
        let stream = fs::read(directory.join("events.sse")).ok()?;
        let saved = fs::read(directory.join("messages.json")).expect("what was saved");
        Some(Recording { directory, stream, saved })
    };
    cases("opencode").into_iter().filter_map(read).collect()
}

impl Recording {
    fn decoded(&self) -> Vec<Output> {
        decoded(opencode().recorded(), &self.stream)
    }

    fn folded(&self) -> Conversations {
        folded(&self.decoded())
    }
}

#[test]
fn live_stream_and_saved_session_give_the_same_blocks() {
    let mut bad = 0;
    for recording in recordings() {
        let parsed = opencode().parse(&recording.saved, &[]);
        let live = recording.folded();
        if live != parsed.conversations || parsed.n_unreadable > 0 {
            bad += 1;
            println!("#### {} unreadable {:?}", recording.directory.display(), parsed.unrecognized);
            let (a, b) = (blocks(&live), blocks(&parsed.conversations));
            fs::write("/tmp/opencode/live.json", serde_json::to_string_pretty(&a).unwrap()).unwrap();
            fs::write("/tmp/opencode/parsed.json", serde_json::to_string_pretty(&b).unwrap()).unwrap();
            let d = std::process::Command::new("diff")
                .args(["-U3", "/tmp/opencode/live.json", "/tmp/opencode/parsed.json"])
                .output()
                .unwrap();
            println!("{}", String::from_utf8_lossy(&d.stdout));
        }
        for o in recording.decoded() {
            match o {
                Output::TurnEnded(e) => {
                    println!("{} {e:?}", recording.directory.file_name().unwrap().display())
                }
                Output::Event(d) if matches!(d.body, warren_domain::EventBody::Unrecognized { .. }) => {
                    println!("{d:?}")
                }
                _ => {}
            }
        }
    }
    assert_eq!(bad, 0);
}
