use std::{collections::HashMap, time::Duration};

use bytes::Bytes;
use warren_domain::{BlobHash, ModelCalled, RunId, Timestamp, Usage};

use super::{Lane, Lanes};
use crate::{Ending, Exchange, Packed, Place, Recording, RefusalKind};

const DAY: Duration = Duration::from_secs(24 * 3600);

/// What is stored, and how it is read back.
#[derive(Default)]
struct Shelf {
    lanes: Lanes,
    blobs: HashMap<BlobHash, Bytes>,
    order: Vec<BlobHash>,
}

impl Shelf {
    /// Stores a call; how many bytes that took.
    fn store(&mut self, request: &str, response: &str) -> usize {
        let prepared =
            self.lanes.prepare(&exchange(request, response), Timestamp::from_millis(5), DAY).expect("packed");
        let (bytes, hash) = (prepared.bytes.clone(), hash(&prepared.bytes));
        self.lanes.stored(prepared, hash.clone());
        self.order.push(hash.clone());
        let n_bytes = bytes.len();
        self.blobs.insert(hash, bytes);
        n_bytes
    }

    fn chain(&self, hash: &BlobHash) -> Vec<(Place, BlobHash, Bytes)> {
        let packed = Packed::parse(&self.blobs[hash]).expect("a header").expect("packed");
        let mut chain = packed.base.as_ref().map(|base| self.chain(base)).unwrap_or_default();
        let whole = packed.unpack(chain.last().map(|(_, _, whole)| whole.as_ref())).expect("unpacked");
        chain.push((packed.place, hash.clone(), whole));
        chain
    }

    fn read(&self, hash: &BlobHash) -> Recording {
        let chain = self.chain(hash);
        Recording::decode(&chain.last().expect("a chain").2).expect("a recording")
    }
}

fn hash(bytes: &[u8]) -> BlobHash {
    BlobHash(blake3::hash(bytes).to_hex().to_string())
}

fn exchange(request: &str, response: &str) -> Exchange {
    let called = ModelCalled {
        call_id: None,
        model: "a-model".to_owned(),
        request_hash: hash(request.as_bytes()),
        status: 200,
        ms: 1,
        attempt: 1,
        usage: Usage::default(),
        cost_usd: 0.0,
        recording: None,
        recording_bytes: None,
    };
    Exchange {
        run: RunId(uuid::Uuid::nil()),
        called,
        ending: Ending::Complete,
        refusal: None,
        settlement: None,
        path: "/v1/messages".to_owned(),
        request: Bytes::from(request.to_owned()),
        content_type: Some("text/event-stream".to_owned()),
        response: Bytes::from(response.to_owned()),
        response_omitted: 0,
        conversation: None,
    }
}

/// Text that no compressor makes much shorter than four sevenths.
fn words(seed: &str, n: usize) -> String {
    let mut random = blake3::Hasher::new().update(seed.as_bytes()).finalize_xof();
    let mut bytes = vec![0; n];
    random.fill(&mut bytes);
    bytes.iter().map(|byte| char::from(b'a' + byte % 16)).collect()
}

/// A conversation as agents send it: all of it, the end of the last message marked, then what is always the same.
struct Conversation {
    name: &'static str,
    head: String,
    messages: Vec<String>,
    tools: String,
}

impl Conversation {
    fn new(name: &'static str) -> Self {
        Self {
            name,
            head: format!("{{\"system\":\"{name}\",\"messages\":["),
            messages: Vec::new(),
            tools: words(name, 20_000),
        }
    }

    /// The next request, its answer, and how many bytes of both are new.
    fn next(&mut self) -> (String, String, usize) {
        let n = self.messages.len();
        let text = words(&format!("{}{n}", self.name), 700);
        self.messages.push(format!("{{\"role\":\"user\",\"content\":\"{text}\"}}"));
        let marker = ",\"cache_control\":{\"type\":\"ephemeral\"}";
        let request =
            format!("{}{}{marker}],\"tools\":\"{}\"}}", self.head, self.messages.join(","), self.tools);
        let answer = words(&format!("answer {}{n}", self.name), 500);
        let new = self.messages[n].len() + answer.len() + if n == 0 { self.tools.len() } else { 0 };
        (request, answer, new)
    }
}

#[test]
fn bytes_stored_for_300_calls_are_proportional_to_new_bytes() {
    let (mut shelf, mut conversation) = (Shelf::default(), Conversation::new("main"));
    let (mut n_stored, mut n_new, mut n_sent) = (0, 0, 0);
    let mut sent = Vec::new();
    for _ in 0..300 {
        let (request, answer, new) = conversation.next();
        n_stored += shelf.store(&request, &answer);
        (n_new, n_sent) = (n_new + new, n_sent + request.len() + answer.len());
        sent.push((request, answer));
    }
    assert!(n_stored * 10 <= n_new * 13, "{n_stored} bytes stored for {n_new} new ones");
    assert!(n_stored * 50 < n_sent, "{n_stored} bytes stored of {n_sent} sent");
    for (hash, (request, answer)) in shelf.order.iter().zip(&sent) {
        let read = shelf.read(hash);
        assert_eq!((&*read.request, &*read.response), (request.as_bytes(), answer.as_bytes()));
    }
}

#[test]
fn interleaved_conversations_have_lanes_of_their_own() {
    let mut shelf = Shelf::default();
    let mut all = ["main", "first subagent", "second subagent"].map(Conversation::new);
    let (mut n_stored, mut n_new) = (0, 0);
    for n in 0..80 {
        let (request, answer, new) = all[n % 3].next();
        n_stored += shelf.store(&request, &answer) + shelf.store(&format!("{{\"title\":{n}}}"), "a title");
        n_new += new;
    }
    assert!(n_stored * 10 <= n_new * 15, "{n_stored} bytes stored for {n_new} new ones");
}

#[test]
fn lane_resumed_from_its_chain_goes_on_where_it_was() {
    let (mut shelf, mut conversation) = (Shelf::default(), Conversation::new("main"));
    for _ in 0..70 {
        let (request, answer, _) = conversation.next();
        shelf.store(&request, &answer);
    }
    let chain = shelf.chain(shelf.order.last().expect("the last"));
    shelf.lanes = Lanes::default();
    let (request, answer, new) = conversation.next();
    assert!(!shelf.lanes.has_lane_for(request.as_bytes()));
    let lane = Lane::of_chain(chain.into_iter().map(Ok::<_, std::convert::Infallible>));
    shelf.lanes.resume(lane.expect("a chain").expect("a lane"));
    assert!(shelf.lanes.has_lane_for(request.as_bytes()));
    let n_stored = shelf.store(&request, &answer);
    assert!(n_stored <= new, "{n_stored} bytes stored for {new} new ones");
    // To where a recording is based on one far before it.
    for _ in 0..40 {
        let (request, answer, _) = conversation.next();
        shelf.store(&request, &answer);
        let last = shelf.order.last().expect("the last");
        assert_eq!(shelf.read(last).request, request.as_bytes());
    }
}

#[test]
fn refused_request_is_recorded_by_its_hash_alone_and_is_no_lane() {
    let (mut shelf, mut conversation) = (Shelf::default(), Conversation::new("main"));
    let (request, answer, _) = conversation.next();
    shelf.store(&request, &answer);
    let body = words("refused", 500_000);
    let refused = Exchange { refusal: Some(RefusalKind::NotGranted), ..exchange(&body, "not granted") };
    let prepared = shelf.lanes.prepare(&refused, Timestamp::from_millis(5), DAY).expect("packed");
    assert!(prepared.bytes.len() < 600, "{} bytes", prepared.bytes.len());
    let whole =
        Packed::parse(&prepared.bytes).expect("a header").expect("packed").unpack(None).expect("unpacked");
    let read = Recording::decode(&whole).expect("a recording");
    assert_eq!((&*read.request, &*read.response), (&b""[..], &b"not granted"[..]));
    assert_eq!(read.request_hash, Some(hash(body.as_bytes())));
    let stored = hash(&prepared.bytes);
    shelf.lanes.stored(prepared, stored);
    assert_eq!(shelf.lanes.lanes.len(), 1);

    // What reached the provider may have cost something, and is recorded.
    let timed_out = Exchange { refusal: Some(RefusalKind::TimedOut), ..exchange(&request, "too late") };
    let read = Recording::decode(&Recording::encode(&timed_out)).expect("a recording");
    assert_eq!((&*read.request, read.request_hash), (request.as_bytes(), None));
}
