//! Blocks from the built-in agent's transcripts.

use serde::Deserialize;
use warren_domain::{ConversationId, Conversations, Draft};

use crate::{Parsed, transcripts::Unread};

/// One line of a transcript, as far as blocks are concerned.
#[derive(Deserialize)]
struct Line {
    #[serde(default)]
    event: Option<Draft>,
    #[serde(default)]
    native: Option<Native>,
}

#[derive(Deserialize)]
struct Native {
    /// On the first line of a subagent's transcript: how many were opened before it in this session.
    #[serde(default)]
    opened: Option<u64>,
}

struct Thread {
    opened: u64,
    drafts: Vec<Draft>,
}

pub(super) fn parse(main: &[u8], subagents: &[(String, Vec<u8>)]) -> Parsed {
    let mut unread = Unread::default();
    let main = read(main, &ConversationId::main(), &mut unread);
    let thread = |(id, bytes): &(String, Vec<u8>)| read(bytes, &ConversationId(id.clone()), &mut unread);
    let mut threads: Vec<Thread> = subagents.iter().map(thread).collect();
    // Threads stand in the order in which they opened, whatever the order of their files. The sort is stable.
    threads.sort_by_key(|thread| thread.opened);
    let mut conversations = Conversations::default();
    for draft in main.drafts.iter().chain(threads.iter().flat_map(|thread| &thread.drafts)) {
        conversations.apply_draft(draft);
    }
    unread.parsed(conversations, None)
}

/// Reads one file. Its name says which thread it is, whatever its lines say.
fn read(bytes: &[u8], id: &ConversationId, unread: &mut Unread) -> Thread {
    let mut thread = Thread { opened: u64::MAX, drafts: Vec::new() };
    for line in bytes.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
        match serde_json::from_slice::<Line>(line) {
            Ok(line) => {
                thread.opened = line.native.and_then(|native| native.opened).unwrap_or(thread.opened);
                thread.drafts.extend(line.event.map(|draft| draft.within(id.clone())));
            }
            Err(_) => unread.note(line),
        }
    }
    thread
}
