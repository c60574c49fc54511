use bytes::Bytes;
use futures::StreamExt;
use tokio_util::sync::CancellationToken;
use warren_domain::Seq;
use warren_runtime::api::LogEntry;

use super::{COPIED, Frames, Source, stream};

fn entry(seq: u64, json: &str) -> LogEntry {
    LogEntry { seq: Seq(seq), json: Bytes::from(json.to_owned()) }
}

fn text(frames: &[Bytes]) -> String {
    frames.iter().map(|frame| String::from_utf8_lossy(frame).into_owned()).collect()
}

#[test]
fn an_entry_is_a_number_and_its_json() {
    let mut frames = Frames::default();
    frames.entry(&entry(7, r#"{"seq":7}"#));
    frames.entry(&entry(8, r#"{"seq":8}"#));
    let done = frames.take();
    assert_eq!(text(&done), "id: 7\ndata: {\"seq\":7}\n\nid: 8\ndata: {\"seq\":8}\n\n");
    assert_eq!(done.len(), 1, "small entries travel together");
    assert_eq!(frames.take(), Vec::<Bytes>::new());
}

#[test]
fn a_long_entry_is_sent_without_being_copied() {
    let long = entry(9, &format!("\"{}\"", "x".repeat(COPIED)));
    let mut frames = Frames::default();
    frames.entry(&long);
    let done = frames.take();
    assert_eq!(done[1].as_ptr(), long.json.as_ptr());
    assert_eq!(text(&done), format!("id: 9\ndata: \"{}\"\n\n", "x".repeat(COPIED)));
}

#[test]
fn line_ends_in_the_data_do_not_end_it() {
    let long = "y".repeat(COPIED);
    for (json, expect) in [
        ("{\n\"a\":\r1}", "data: {\ndata: \"a\":\ndata: 1}\n\n".to_owned()),
        (&format!("[\n\"{long}\"]"), format!("data: [\ndata: \"{long}\"]\n\n")),
    ] {
        let mut frames = Frames::default();
        frames.data(&Bytes::from(json.to_owned()));
        assert_eq!(text(&frames.take()), expect);
    }
}

struct Silent;

impl Source for Silent {
    async fn next(&mut self) -> Option<Vec<Bytes>> {
        std::future::pending().await
    }
}

#[tokio::test(start_paused = true)]
async fn a_silent_stream_says_that_it_is_alive_and_ends_with_the_server() {
    let cancel = CancellationToken::new();
    let mut body = stream(Silent, cancel.clone()).into_body().into_data_stream();
    let mut next = async || body.next().await.map(|chunk| chunk.expect("no error"));
    assert_eq!(next().await.as_deref(), Some(b"retry: 1000\n\n".as_slice()));
    assert_eq!(next().await.as_deref(), Some(b": keep-alive\n\n".as_slice()));
    cancel.cancel();
    assert_eq!(next().await, None);
}
