use warren_domain::Usage;

use crate::{
    Format,
    format::Metered,
    meter::{
        Progress,
        testing::{check_stream, progress, read},
    },
};

/// Reasoning, words and a call of a custom tool; the last event holds everything again, and the usage.
const STREAM: &str = include_str!("../../../fixtures/openai-responses/stream.sse");
const JSON: &str = include_str!("../../../fixtures/openai-responses/response.json");

fn metered() -> Metered {
    let usage = Usage {
        input_tokens: 96,
        output_tokens: 20,
        cache_read_tokens: 4,
        thinking_tokens: 7,
        ..Usage::default()
    };
    Metered { usage: usage.totalled(), model: Some("gpt-5.5".to_owned()), ..Metered::default() }
}

#[test]
fn a_stream_is_metered_alike_wherever_its_pieces_break() {
    check_stream(Format::OpenAiResponses, STREAM, &metered());
    let unnamed: String = STREAM
        .lines()
        .filter(|line| !line.starts_with("event:"))
        .fold(String::new(), |text, line| text + line + "\n");
    check_stream(Format::OpenAiResponses, &unnamed, &metered());
}

#[test]
fn an_answer_in_one_piece_is_metered_like_its_stream() {
    assert_eq!(read(Format::OpenAiResponses, "application/json", JSON, 100), metered());
}

#[test]
fn the_end_is_known_as_soon_as_the_answer_says_so() {
    let end = STREAM.find("event: response.completed").expect("an end");
    assert_eq!(progress(Format::OpenAiResponses, &STREAM[..end]), Progress::Going);
    assert_eq!(progress(Format::OpenAiResponses, STREAM), Progress::Over);
    for kind in ["response.incomplete", "response.failed"] {
        let stream = STREAM.replace("response.completed", kind);
        assert_eq!(progress(Format::OpenAiResponses, &stream), Progress::Over);
        check_stream(Format::OpenAiResponses, &stream, &metered());
    }
}

/// It repeats the whole response, so it can be far longer than any other.
#[test]
fn a_long_last_event_is_metered_too() {
    let long = STREAM.replace("I will write a file.", &"words ".repeat(100_000));
    assert_eq!(read(Format::OpenAiResponses, "text/event-stream", &long, 16_384), metered());
}

#[test]
fn a_stream_that_breaks_off_has_only_named_its_model() {
    let end = STREAM.find("event: response.completed").expect("an end");
    let expected = Metered { model: metered().model, ..Metered::default() };
    assert_eq!(read(Format::OpenAiResponses, "text/event-stream", &STREAM[..end], 64), expected);
}

#[test]
fn web_searches_of_the_provider_are_paid_beside_the_tokens() {
    let search = r#"{"type":"web_search_call","action":{"type":"search","query":"rust"}}"#;
    let opened = r#"{"type":"web_search_call","action":{"type":"open_page","url":"https://a.test"}}"#;
    let done = |item: &str| format!("data: {{\"type\":\"response.output_item.done\",\"item\":{item}}}\n\n");
    let end = |output: &str| {
        format!(
            "data: {{\"type\":\"response.completed\",\"response\":{{\"output\":[{output}],\"usage\":{{\"output_tokens\":1}}}}}}\n\n"
        )
    };
    let pieces = [done(search), done(opened), done(search)].concat();
    for stream in
        [format!("{pieces}{}", end("")), format!("{pieces}{}", end(&format!("{search},{opened},{search}")))]
    {
        assert_eq!(read(Format::OpenAiResponses, "text/event-stream", &stream, 9).tools_usd, 0.02);
    }
    let whole = format!(r#"{{"output":[{search}]}}"#);
    assert_eq!(read(Format::OpenAiResponses, "application/json", &whole, 9).tools_usd, 0.01);
}
