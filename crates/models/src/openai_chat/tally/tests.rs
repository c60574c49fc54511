use warren_domain::Usage;

use crate::{
    Format,
    format::Metered,
    meter::{
        Progress,
        testing::{check_stream, progress, read},
    },
};

/// Reasoning, words and a call in two parts; the usage is in the chunk before the end.
const STREAM: &str = include_str!("../../../fixtures/openai-chat/stream.sse");
const JSON: &str = include_str!("../../../fixtures/openai-chat/completion.json");

fn metered() -> Metered {
    let usage = Usage {
        input_tokens: 96,
        output_tokens: 20,
        cache_read_tokens: 4,
        thinking_tokens: 7,
        ..Usage::default()
    };
    let model = Some("gpt-5-mini-2025-08-07".to_owned());
    Metered { usage: usage.totalled(), model, ..Metered::default() }
}

#[test]
fn a_stream_is_metered_alike_wherever_its_pieces_break() {
    check_stream(Format::OpenAiChat, STREAM, &metered());
}

#[test]
fn an_answer_in_one_piece_is_metered_like_its_stream() {
    assert_eq!(read(Format::OpenAiChat, "application/json", JSON, 100), metered());
}

#[test]
fn an_event_in_several_lines_is_read_as_one() {
    let lines =
        "data: {\"model\":\"m\",\ndata: \"usage\":{\"prompt_tokens\":1,\ndata: \"completion_tokens\":2}}\n\n";
    let usage = Usage { input_tokens: 1, output_tokens: 2, ..Usage::default() };
    let expected = Metered { usage: usage.totalled(), model: Some("m".to_owned()), ..Metered::default() };
    check_stream(Format::OpenAiChat, lines, &expected);
}

#[test]
fn the_end_is_known_as_soon_as_the_answer_says_so() {
    let end = STREAM.find("data: [DONE]").expect("an end");
    assert_eq!(progress(Format::OpenAiChat, &STREAM[..end]), Progress::Going);
    assert_eq!(progress(Format::OpenAiChat, STREAM), Progress::Over);
}

/// The request did not ask for usage.
#[test]
fn a_stream_without_usage_still_names_its_model() {
    let without = STREAM.replace("\"prompt_tokens\"", "\"x\"").replace("\"usage\": {", "\"x\": {");
    let expected = Metered { model: metered().model, ..Metered::default() };
    check_stream(Format::OpenAiChat, &without, &expected);
}

#[test]
fn reasoning_that_is_only_in_the_total_counts_as_output() {
    let body = r#"{"usage":{"prompt_tokens":10,"completion_tokens":5,"total_tokens":40,
        "completion_tokens_details":{"reasoning_tokens":25},"prompt_tokens_details":null}}"#;
    let usage = Usage { input_tokens: 10, output_tokens: 30, thinking_tokens: 25, ..Usage::default() };
    assert_eq!(read(Format::OpenAiChat, "application/json", body, 9).usage, usage.totalled());
}
