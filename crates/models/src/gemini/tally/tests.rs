use warren_domain::Usage;

use crate::{
    Format,
    format::Metered,
    meter::{
        Progress,
        testing::{check_stream, progress, read},
    },
};

/// A thought, words and a call; each piece tells the usage so far. Its lines end with CR LF, as the provider's do.
const STREAM: &str = include_str!("../../../fixtures/gemini/stream.sse");
const JSON: &str = include_str!("../../../fixtures/gemini/content.json");

fn metered(output_tokens: u64, cache_read_tokens: u64) -> Metered {
    let usage = Usage {
        input_tokens: 100 - cache_read_tokens,
        output_tokens,
        cache_read_tokens,
        thinking_tokens: 7,
        ..Usage::default()
    };
    Metered { usage: usage.totalled(), model: Some("gemini-2.5-pro".to_owned()), ..Metered::default() }
}

#[test]
fn a_stream_is_metered_alike_wherever_its_pieces_break() {
    check_stream(Format::Gemini, STREAM, &metered(21, 4));
}

#[test]
fn an_answer_in_one_piece_is_metered_like_its_stream() {
    assert_eq!(read(Format::Gemini, "application/json; charset=UTF-8", JSON, 100), metered(21, 4));
}

#[test]
fn a_stream_that_is_a_list_is_metered_too() {
    let pieces: Vec<&str> = STREAM.lines().filter_map(|line| line.strip_prefix("data: ")).collect();
    let list = format!("[{}]", pieces.join(",\r\n"));
    assert_eq!(read(Format::Gemini, "application/json", &list, 100), metered(21, 4));
}

#[test]
fn a_stream_that_breaks_off_has_used_what_it_said_so_far() {
    let second = STREAM.find("\r\n\r\n").expect("an end") + 4;
    assert_eq!(read(Format::Gemini, "text/event-stream", &STREAM[..second], 9), metered(7, 0));
    assert_eq!(progress(Format::Gemini, &STREAM[..second]), Progress::Going);
}

/// There is no event for the end, and usage could still follow.
#[test]
fn an_answer_is_finished_when_it_gives_a_reason() {
    assert_eq!(progress(Format::Gemini, STREAM), Progress::Finished);
}

#[test]
fn what_has_no_usage_has_used_nothing() {
    for (content_type, text) in [
        ("application/json", r#"{"error":{"code":429,"message":"","status":"RESOURCE_EXHAUSTED"}}"#),
        ("application/json", r#"{"totalTokens":11}"#),
        ("application/json", "[{"),
        ("text/event-stream", "data: {\n\n"),
    ] {
        assert_eq!(read(Format::Gemini, content_type, text, 5), Metered::default(), "{text}");
    }
}

#[test]
fn answer_that_google_searched_for_is_paid_once() {
    let grounded = |queries: &str| {
        let piece = format!(
            r#"{{"candidates":[{{"groundingMetadata":{{"webSearchQueries":{queries}}}}}],"usageMetadata":{{"promptTokenCount":1}}}}"#
        );
        let stream = format!("data: {piece}\n\ndata: {piece}\n\n");
        read(Format::Gemini, "text/event-stream", &stream, 8).tools_usd
    };
    assert_eq!([grounded(r#"["rust","cargo"]"#), grounded("[]")], [0.035, 0.0]);
}
