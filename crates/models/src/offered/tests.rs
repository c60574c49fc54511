use hyper::StatusCode;
use serde_json::json;

use super::{OfferError, OfferedModel, Page, check_status, read};
use crate::Format;

fn model(id: &str, display_name: Option<&str>, context_window: Option<u64>) -> OfferedModel {
    OfferedModel { id: id.to_owned(), display_name: display_name.map(str::to_owned), context_window }
}

#[test]
fn each_providers_list_is_read_by_its_own_custom() {
    let anthropic = json!({"data": [
        {"id": "claude-opus-4-5", "display_name": "Claude Opus 4.5", "type": "model"},
        {"id": "claude-new", "max_input_tokens": 1_000_000},
        {"display_name": "without a name to ask for"},
    ], "has_more": true, "last_id": "a b"});
    let expected = Page {
        models: vec![
            model("claude-opus-4-5", Some("Claude Opus 4.5"), None),
            model("claude-new", None, Some(1_000_000)),
        ],
        next: Some("limit=1000&after_id=a+b".to_owned()),
    };
    assert_eq!(read(Format::Anthropic, &anthropic), Some(expected));

    let gemini = json!({"models": [
        {"name": "models/gemini-2.5-pro", "inputTokenLimit": 1_048_576, "supportedGenerationMethods": ["generateContent"]},
        {"name": "models/embedding-001", "supportedGenerationMethods": ["embedContent"]},
    ], "nextPageToken": "t/2"});
    let expected = Page {
        models: vec![model("gemini-2.5-pro", None, Some(1_048_576))],
        next: Some("pageSize=1000&pageToken=t%2F2".to_owned()),
    };
    assert_eq!(read(Format::Gemini, &gemini), Some(expected));

    let openai = json!({"data": [{"id": "gpt-5"}, {"id": "qwen3", "max_model_len": 32_768}, {"id": 7}]});
    let expected =
        Page { models: vec![model("gpt-5", None, None), model("qwen3", None, Some(32_768))], next: None };
    assert_eq!(read(Format::OpenAiResponses, &openai), Some(expected));
}

#[test]
fn what_is_no_list_of_models_is_not_taken_for_an_empty_one() {
    for format in Format::ALL {
        for answer in [json!({}), json!([]), json!("hello"), json!({"data": 1, "models": 1})] {
            assert_eq!(read(format, &answer), None, "{format:?} {answer}");
        }
    }
}

#[test]
fn last_page_of_a_list_has_no_next_one() {
    let anthropic = json!({"data": [], "has_more": false, "last_id": "x"});
    assert_eq!(read(Format::Anthropic, &anthropic), Some(Page::default()));
    let gemini = json!({"models": [], "nextPageToken": ""});
    assert_eq!(read(Format::Gemini, &gemini), Some(Page::default()));
}

#[test]
fn names_that_no_request_can_carry_are_left_out() {
    let long = "m".repeat(129);
    let openai = json!({"data": [{"id": long}, {"id": ""}, {"id": "a\nb"}, {"id": "fine"}]});
    let read = read(Format::OpenAiChat, &openai).expect("a list");
    assert_eq!(read.models, [model("fine", None, None)]);
}

#[test]
fn status_tells_a_wrong_key_from_a_wrong_address_and_from_a_provider_in_trouble() {
    let of = |format, status: u16| check_status(format, StatusCode::from_u16(status).expect("a status"));
    let said = |status| of(Format::Anthropic, status);
    assert_eq!(said(200), Ok(()));
    for status in [401, 403] {
        assert_eq!(said(status), Err(OfferError::WrongKey(status)));
    }
    assert_eq!(of(Format::Gemini, 400), Err(OfferError::WrongKey(400)));
    assert_eq!(said(404), Err(OfferError::WrongUrl("HTTP 404".to_owned())));
    assert!(matches!(said(302), Err(OfferError::WrongUrl(_))));
    for status in [400, 429, 500, 503] {
        assert_eq!(said(status), Err(OfferError::Failed(status)));
    }
}
