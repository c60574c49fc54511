//! The demo model behind a listener, as a provider.

use tokio::net::TcpListener;
use warren_env::{TaskKind, Tasks};
use warren_models::{Options, Pace, Secret, UpstreamOptions, demo};

use crate::support::{Bench, exchange, request};

async fn start(tasks: &Tasks) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let base_url = format!("http://{}", listener.local_addr().expect("an address"));
    let group = tasks.clone();
    tasks.spawn(TaskKind::Housekeeping, async move { demo::serve(listener, Pace::NONE, &group).await });
    base_url
}

fn with_key(base_url: String, api_key: Option<Secret>) -> Bench {
    Bench::new(Options { anthropic: UpstreamOptions::Http { base_url, api_key }, ..Options::default() })
}

#[tokio::test]
async fn the_demo_model_says_the_same_behind_a_listener_as_inside_the_gateway() {
    let tasks = Tasks::new();
    let base_url = start(&tasks).await;
    let mut outside = with_key(base_url, Some(Secret::new("any")));
    let mut inside = Bench::with_demo();
    let from_outside = outside.connect().await.post("/v1/messages", request()).await;
    let from_inside = inside.connect().await.post("/v1/messages", request()).await;
    assert_eq!(from_outside.status, from_inside.status);
    assert_eq!(without_ids(&from_outside.body), without_ids(&from_inside.body));
    let reported = inside.ended().await;
    assert_eq!(reported.called.model, warren_models::demo::MODEL, "the gateway knows who really answered");
    let mut told = outside.ended().await;
    told.called.model.clone_from(&reported.called.model);
    told.called.usage = reported.called.usage.clone();
    told.called.cost_usd = reported.called.cost_usd;
    for (told, body) in [(&told, &from_outside.body), (&reported, &from_inside.body)] {
        let mut expected = exchange(200, told.ending, Some("text/event-stream; charset=utf-8"), body);
        expected.called.model.clone_from(&reported.called.model);
        expected.called.usage = reported.called.usage.clone();
        expected.called.cost_usd = reported.called.cost_usd;
        assert_eq!(told, &expected);
    }
    assert!(reported.called.usage.total_tokens > 0, "{:?}", reported.called);
    assert_eq!((reported.called.cost_usd, reported.called.usage.cost_usd), (0.0, 0.0), "it is free");
}

/// What was said, whatever the ids and signatures: those of a server's own model are never the same twice.
fn without_ids(text: &str) -> String {
    let is_of_id = |c: char| c.is_ascii_hexdigit();
    let mut parts = text.split("_demo_");
    let first = parts.next().unwrap_or_default().to_owned();
    let text = parts.fold(first, |text, part| text + "_demo_" + part.trim_start_matches(is_of_id));
    let mut parts = text.split("\"signature\":\"");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |text, part| text + part.split_once('"').map_or(part, |(_, rest)| rest))
}

#[tokio::test]
async fn it_wants_a_key_like_the_real_one() {
    let tasks = Tasks::new();
    let bench = with_key(start(&tasks).await, None);
    let answer = bench.connect().await.post("/v1/messages", request()).await;
    assert_eq!(answer.status, 401);
}
