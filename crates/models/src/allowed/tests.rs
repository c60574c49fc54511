use super::{ANTHROPIC_FAMILY, AllowedModels, FAMILIES, matches_glob, shown};
use crate::PriceTable;

fn by_default(model: &str) -> bool {
    AllowedModels::default().allow(model, &[])
}

fn listed(patterns: &[&str]) -> AllowedModels {
    AllowedModels::listed(patterns).expect("patterns")
}

#[test]
fn models_that_agents_ask_for_are_allowed_by_default() {
    for model in [
        "claude-opus-5-5",
        "claude-sonnet-4-5-20250929",
        "claude-haiku-4-5-20251001",
        "claude-3-7-sonnet-latest",
        "claude-fable-6",
        "gemini-2.5-pro",
        "gemini-2.5-flash-lite",
        "gemini-3.1-pro-preview-customtools",
        "gemini-3-flash-preview",
        "gpt-5.5",
        "gpt-5-codex",
        "gpt-5.1-codex-max",
        "gpt-5-mini-2025-08-07",
        "gpt-4o",
        "o3-mini",
        "o4-mini",
        "codex-mini-latest",
        "openai/gpt-5",
        "models/gemini-2.5-pro",
        "warren-demo-1",
    ] {
        assert!(by_default(model), "{model}");
    }
}

#[test]
fn model_that_acts_by_itself_or_is_spelled_otherwise_is_refused_by_default() {
    for model in [
        "",
        "gpt-4o-search-preview",
        "gpt-4o-mini-search-preview-2025-03-11",
        "gpt-5-search-api",
        "o3-deep-research",
        "o4-mini-deep-research",
        "computer-use-preview",
        "gemini-2.5-computer-use-preview-10-2025",
        "deep-research-pro-preview",
        "claude-web-search",
        "gpt-4o-audio-preview",
        "GPT-4o",
        "Gpt-4o-Search-Preview",
        "gpt-4o-SEARCH-preview",
        "models/gpt-4o-search-preview",
        "openai/gpt-4o:online",
        "gpt-5:online",
        "gpt-5\u{2011}search",
        " gpt-5",
        "gpt-5 ",
        "gpt-5\n",
        "gpt-5\0",
        "gpt%2D5",
        "gpt-5?x",
        "ft:gpt-4o-mini:acme::id",
        "sonar-pro",
        "somebody-elses",
        "o/somebody-elses",
    ] {
        assert!(!by_default(model), "{model:?}");
    }
    assert!(!by_default(&format!("gpt-5-{}", "1".repeat(200))));
}

#[test]
fn operators_list_replaces_the_default_and_a_star_stands_for_no_search_model() {
    let list = listed(&["claude-*", "gpt-5*", "qwen3", "ft:gpt-4o-mini:acme:*"]);
    for model in ["claude-opus-4-5", "gpt-5", "gpt-5.5-anything", "qwen3", "ft:gpt-4o-mini:acme::id"] {
        assert!(list.allow(model, &[]), "{model}");
    }
    for model in ["gpt-4o", "gpt-5-search-api", "gpt-5-Search-api", "GPT-5", "models/gpt-5", "qwen3-coder"] {
        assert!(!list.allow(model, &[model.to_owned()]), "{model}");
    }
    assert!(listed(&["gpt-4o-search-preview"]).allow("gpt-4o-search-preview", &[]));
    assert!(listed(&["*-search-*"]).allow("gpt-4o-search-preview", &[]));
    assert!(!listed(&["*"]).allow("gpt-4o-search-preview", &[]));
    assert!(!listed(&["*"]).allow("", &[]));
    assert!(!listed(&[]).allow("gpt-5", &[]));
}

#[test]
fn models_that_the_operator_priced_and_the_sessions_own_are_allowed_without_a_list() {
    let priced = AllowedModels::Known { priced: vec!["qwen3".to_owned()] };
    assert!(priced.allow("qwen3-coder", &[]) && priced.allow("gpt-5", &[]));
    assert!(!priced.allow("qwen3-search", &[]) && !priced.allow("llama", &[]));

    let own = ["local/llama3".to_owned(), "gpt-4o-search-preview".to_owned()];
    let allows = |model| AllowedModels::default().allow(model, &own);
    assert!(allows("llama3") && allows("local/llama3"));
    assert!(!allows("llama") && !allows("llama33") && !allows("gpt-4o-search-preview"));
}

#[test]
fn pattern_that_can_be_no_name_is_refused() {
    for pattern in ["", "gpt 5", "gpt-5\n", "modèle"] {
        let refused = AllowedModels::listed([pattern]).expect_err("no pattern");
        assert_eq!(refused.to_string(), format!("`{pattern}` is not a pattern of model names"));
    }
}

#[test]
fn every_known_family_has_a_price() {
    let table = PriceTable::default();
    for family in FAMILIES.iter().chain([&ANTHROPIC_FAMILY]) {
        assert!(table.price(&format!("{family}-mini")).is_some(), "{family}");
    }
}

#[test]
fn star_stands_for_any_characters() {
    for (pattern, text, fits) in [
        ("*", "", true),
        ("*", "abc", true),
        ("a*c", "abbc", true),
        ("a*c", "ac", true),
        ("a*c", "acb", false),
        ("a*b*c", "a-b-b-c", true),
        ("a*b*c", "a-c-b", false),
        ("abc", "abc", true),
        ("abc", "abcd", false),
        ("a**", "a", true),
        ("*a*a*a*a*b", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", false),
    ] {
        assert_eq!(matches_glob(pattern.as_bytes(), text.as_bytes()), fits, "{pattern} {text}");
    }
}

#[test]
fn name_of_a_refused_model_is_shown_short_and_on_one_line() {
    assert_eq!(shown("gpt-4o"), "gpt-4o");
    assert_eq!(shown("a\nb"), "a\\nb");
    assert_eq!(shown(&"x".repeat(1000)), format!("{}…", "x".repeat(64)));
}

#[test]
fn what_a_session_may_choose_is_offered_unless_it_writes_no_text() {
    let known = AllowedModels::default();
    for model in ["claude-opus-4-5", "gpt-5-mini", "qwen3-coder", "openai/gpt-oss-120b"] {
        assert!(known.offers(model), "{model}");
    }
    for model in
        ["text-embedding-3-large", "whisper-1", "tts-1", "gpt-image-1", "gpt-4o-search-preview", "a b"]
    {
        assert!(!known.offers(model), "{model}");
    }
    let listed = AllowedModels::listed(["gpt-5*"]).expect("patterns");
    assert_eq!([listed.offers("gpt-5-mini"), listed.offers("qwen3-coder")], [true, false]);
}
