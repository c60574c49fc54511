use super::Estimate;
use crate::{
    Charge, Feature, Price, Quote,
    format::{Inspected, Media},
};

const PRICE: Price = Price::with_cache(1_000_000.0, 10_000_000.0, 0.0);

fn estimate(body: &str, inspected: &Inspected) -> Estimate {
    Estimate::new(body.as_bytes(), inspected, Some(PRICE))
}

fn charge(cost_usd: f64, tokens: u64) -> Charge {
    Charge { cost_usd, tokens }
}

fn asking(max_output_tokens: Option<u64>, streamed: bool) -> Inspected {
    Inspected { max_output_tokens, streamed, ..Inspected::default() }
}

#[test]
fn a_quote_has_the_input_and_the_longest_answer() {
    let quote = estimate("123456789", &asking(Some(10), true)).quote("m");
    let expected =
        Quote { model: "m".to_owned(), input: charge(3.0, 3), most: charge(103.0, 13), priced: true };
    assert_eq!(quote, expected);
}

#[test]
fn other_scripts_may_take_a_token_for_each_byte_and_images_few() {
    let input = |body: &str, media| {
        let inspected = Inspected { media, ..asking(Some(0), true) };
        estimate(body, &inspected).quote("m").input.tokens
    };
    assert_eq!(input("世界", Media::default()), 6);
    assert_eq!(input(&"a".repeat(6403), Media { count: 1, bytes: 6400 }), 1 + 2000 + 100);
}

#[test]
fn a_request_without_a_limit_may_get_the_models_longest_answer() {
    let most = |model: &str| {
        let inspected = Inspected { model: model.to_owned(), ..Inspected::default() };
        Estimate::new(b"", &inspected, None).quote(model).most.tokens
    };
    assert_eq!(most("gpt-5.5"), 128_000);
    assert_eq!(most("gemini-2.5-pro"), 65_536);
    assert_eq!(most("anthropic/claude-sonnet-4-5"), 64_000);
    assert_eq!(most("somebody-elses"), 32_768);
}

#[test]
fn an_answer_that_does_not_tell_is_charged_by_what_was_seen_of_it() {
    let streamed = estimate("123", &asking(Some(100), true));
    assert_eq!(streamed.untold(40, false).tokens, 1 + 10);
    assert_eq!(streamed.untold(40_000, true).tokens, 1 + 100);
    assert_eq!(streamed.untold_output(40, 4).tokens, 6);
    assert_eq!(streamed.untold_output(40, 40).tokens, 0);
    let at_once = estimate("123", &asking(Some(100), false));
    assert_eq!(at_once.untold(40, true).tokens, 1 + 10);
    assert_eq!(at_once.untold(0, false).tokens, 1 + 100, "it may have been written whole");
}

#[test]
fn dearer_service_is_reserved_at_the_price_of_the_dearest() {
    let inspected = Inspected { features: vec![Feature::DearerService], ..asking(Some(10), true) };
    let quote = estimate("123456789", &inspected).quote("m");
    assert_eq!((quote.input, quote.most), (charge(18.0, 3), charge(618.0, 13)));
}

#[test]
fn several_answers_without_a_limit_may_each_be_the_longest() {
    let inspected = Inspected { model: "gpt-4o".to_owned(), n_answers: Some(3), ..Inspected::default() };
    assert_eq!(Estimate::new(b"", &inspected, None).quote("gpt-4o").most.tokens, 3 * 16_384);
}

#[test]
fn call_that_may_search_reserves_the_searches_and_what_they_find() {
    let searching = Inspected { features: vec![Feature::ServerTools], ..asking(Some(0), true) };
    let price = Price::with_cache(1.0, 1.0, 0.0);
    let reserved = |price| Estimate::new(b"123", &searching, Some(price)).quote("m").most;
    assert_eq!(reserved(price), charge(0.1 + 0.050_001, 50_001));
    assert_eq!(reserved(Price::of(0.0, 0.0)).cost_usd, 0.0, "the demo model costs nothing");
    let whole = Estimate::new(b"123", &searching, Some(price));
    assert_eq!(whole.untold_output(40, 0), charge(0.0, 0), "searches are charged with the input");
}
