use warren_domain::Usage;

use crate::{
    Format,
    format::Metered,
    meter::{
        Progress,
        testing::{check_stream, progress, read},
    },
};

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
        tools_usd: 0.0,
        model: Some("claude-opus-4-5-20251101".to_owned()),
    }
}

#[test]
fn a_stream_is_metered_alike_wherever_its_pieces_break() {
    check_stream(Format::Anthropic, STREAM, &metered());
}

#[test]
fn the_end_is_known_as_soon_as_the_answer_says_so() {
    assert_eq!(progress(Format::Anthropic, &STREAM[..STREAM.len() - 1]), Progress::Going);
    assert_eq!(progress(Format::Anthropic, STREAM), Progress::Over);
}

#[test]
fn an_answer_in_one_piece_is_metered_like_its_stream() {
    assert_eq!(read(Format::Anthropic, "application/json", JSON, JSON.len()), metered());
}

#[test]
fn a_stream_that_breaks_off_has_used_what_it_said_so_far() {
    let cut = STREAM.find("event: message_delta").expect("the fixture has one");
    let mut expected = metered();
    expected.usage.output_tokens = 3;
    expected.usage = expected.usage.totalled();
    assert_eq!(read(Format::Anthropic, "text/event-stream", &STREAM[..cut], 10), expected);
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
        assert_eq!(read(Format::Anthropic, content_type, text, 5), Metered::default(), "{text}");
    }
}

#[test]
fn web_searches_of_the_provider_are_paid_beside_the_tokens() {
    let body = r#"{"model":"m","usage":{"output_tokens":1,"server_tool_use":{"web_search_requests":3,"web_fetch_requests":5}}}"#;
    assert_eq!(read(Format::Anthropic, "application/json", body, 10).tools_usd, 0.03);
    let stream = "event: message_delta\ndata: {\"usage\":{\"output_tokens\":9,\"server_tool_use\":{\"web_search_requests\":2}}}\n\n";
    let searched = STREAM.replacen("event: message_stop", &format!("{stream}event: message_stop"), 1);
    assert_eq!(read(Format::Anthropic, "text/event-stream", &searched, 7).tools_usd, 0.02);
}
