use warren_domain::Usage;

use super::Meter;
use crate::format::Metered;

/// An answer as the provider's documentation shows it, with a cache and a ping.
const STREAM: &str = include_str!("../../../fixtures/anthropic/stream.sse");
const JSON: &str = include_str!("../../../fixtures/anthropic/message.json");

fn metered() -> Metered {
    let usage = Usage {
        input_tokens: 472,
        output_tokens: 89,
        cache_read_tokens: 1200,
        cache_write_tokens: 300,
        ..Usage::default()
    };
    Metered {
        usage: usage.totalled(),
        long_cache_write_tokens: 100,
        model: Some("claude-opus-4-5-20251101".to_owned()),
    }
}

fn read(content_type: &str, text: &str, size: usize) -> Metered {
    let mut meter = Meter::new(Some(content_type));
    text.as_bytes().chunks(size).for_each(|piece| meter.saw(piece));
    meter.total(text.as_bytes())
}

#[test]
fn a_stream_is_metered_alike_wherever_its_pieces_break() {
    for size in [1, 2, 3, 7, 64, 1000, STREAM.len()] {
        assert_eq!(read("text/event-stream; charset=utf-8", STREAM, size), metered(), "pieces of {size}");
    }
}

#[test]
fn the_end_is_known_as_soon_as_the_answer_says_so() {
    let mut meter = Meter::new(Some("text/event-stream"));
    let (last, before) = STREAM.as_bytes().split_last().expect("bytes");
    meter.saw(before);
    assert!(!meter.saw_end());
    meter.saw(&[*last]);
    assert!(meter.saw_end());
}

#[test]
fn an_answer_in_one_piece_is_metered_like_its_stream() {
    assert_eq!(read("application/json", JSON, JSON.len()), metered());
}

#[test]
fn a_stream_that_breaks_off_has_used_what_it_said_so_far() {
    let cut = STREAM.find("event: message_delta").expect("the fixture has one");
    let mut expected = metered();
    expected.usage.output_tokens = 3;
    expected.usage = expected.usage.totalled();
    assert_eq!(read("text/event-stream", &STREAM[..cut], 10), expected);
}

#[test]
fn what_is_no_message_has_used_nothing() {
    for (content_type, text) in [
        (
            "application/json",
            r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#,
        ),
        ("application/json", "not json"),
        ("text/html", "<html>"),
        ("text/event-stream", "event: message_start\ndata: {\n\n"),
    ] {
        assert_eq!(read(content_type, text, 5), Metered::default(), "{text}");
    }
}
