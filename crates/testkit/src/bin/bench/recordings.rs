//! What recording model calls takes: bytes beside what is new in each call, and time beside calls that are not recorded.

use std::time::{Duration, Instant};

use warren_domain::{BlobHash, ModelCalled, RunId, Timestamp, Usage};
use warren_models::{Ending, Exchange, Lanes};
use warren_testkit::Setup;

use super::{
    stats::Times,
    table::{Table, millis},
};

const CALLS: usize = 1_000;
const DAY: Duration = Duration::from_secs(24 * 3600);
/// The built-in agent stops after 200 answers of the model in one turn.
const CALLS_PER_RUN: usize = 190;
const ROUNDS: usize = 5;

/// Takes the figures.
pub(crate) async fn measure(table: &mut Table) {
    bytes(table);
    time(table).await;
}

/// A conversation as agents send it: all of it with every call, then what is always the same.
fn bytes(table: &mut Table) {
    let (mut lanes, mut messages) = (Lanes::default(), String::new());
    let tools = words("tools", 20_000);
    let (mut stored, mut new, mut sent) = (0, tools.len(), 0);
    let mut times = Vec::with_capacity(CALLS);
    for n in 0..CALLS {
        let message = format!("{{\"role\":\"user\",\"content\":\"{}\"}},", words(&format!("ask {n}"), 700));
        messages.push_str(&message);
        let request = format!("{{\"messages\":[{messages}],\"tools\":\"{tools}\"}}");
        let answer = words(&format!("answer {n}"), 500);
        (new, sent) = (new + message.len() + answer.len(), sent + request.len() + answer.len());
        let exchange = exchange(request, answer);
        let began = Instant::now();
        let prepared = lanes.prepare(&exchange, Timestamp::from_millis(5), DAY).unwrap();
        times.push(began.elapsed());
        stored += prepared.bytes.len();
        let hash = hash(&prepared.bytes);
        lanes.stored(prepared, hash);
    }
    let times = Times::of(times);
    table.row(
        "recordings of 1,000 calls, bytes stored for each new byte",
        format!("{:.2}", stored as f64 / new as f64),
        format!(
            "{:.0} sent for each new byte; packing takes {} a call, p99 {}",
            sent as f64 / new as f64,
            millis(times.at(50)),
            millis(times.at(99))
        ),
        "≤ 1.3",
    );
}

/// Whole runs, recorded and not, in turns.
async fn time(table: &mut Table) {
    let unrecorded = "[models]\nmax_recorded_bytes_per_run = \"1B\"";
    let mut servers = [Setup::new().start().await, Setup::new().config(unrecorded).start().await];
    let mut times = [Vec::new(), Vec::new()];
    for _ in 0..ROUNDS {
        for (server, times) in servers.iter().zip(&mut times) {
            let client = server.admin();
            let session = client.session_create().await;
            client.run(session, "run: true").await;
            let began = Instant::now();
            let events = client.run(session, &format!("run {CALLS_PER_RUN} times: true")).await;
            times.push(began.elapsed());
            assert_eq!(events.last().map(|event| event.kind()), Some("run_completed"));
            let is_recorded = events.iter().any(|event| event.json["recording"].is_string());
            assert_eq!(is_recorded, std::ptr::eq(server, &raw const servers[0]), "recordings");
        }
    }
    let [recorded, unrecorded] = times.map(Times::of);
    table.compare("a run of 190 model calls, recorded beside not", 50, &recorded, &unrecorded, "× 1");
    for server in &mut servers {
        server.stop().await;
    }
}

fn exchange(request: String, response: String) -> Exchange {
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
        request: request.into(),
        content_type: Some("text/event-stream".to_owned()),
        response: response.into(),
        response_omitted: 0,
        conversation: None,
    }
}

/// Text that no compressor makes much shorter than four sevenths.
fn words(seed: &str, n: usize) -> String {
    let mut bytes = vec![0; n];
    blake3::Hasher::new().update(seed.as_bytes()).finalize_xof().fill(&mut bytes);
    bytes.iter().map(|byte| char::from(b'a' + byte % 16)).collect()
}

fn hash(bytes: &[u8]) -> BlobHash {
    BlobHash(blake3::hash(bytes).to_hex().to_string())
}
