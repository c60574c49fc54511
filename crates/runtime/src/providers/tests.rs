//! What is set for providers, on a real store and without a provider to ask.

use std::sync::Arc;

use tempfile::TempDir;
use warren_domain::ErrorCode;
use warren_env::{Env, Tasks};
use warren_models::{Format, Overrides as _, Secret, UpstreamOptions};
use warren_store::Store;

use super::{ConfiguredProvider, ProviderOptions, Providers};
use crate::api::{KeySource, ProviderSummary, ProviderWish, SessionError};

const KEY: &str = "sk-test-0123456789abcdef";

struct Shelf {
    directory: TempDir,
    store: Store,
}

impl Shelf {
    async fn new() -> Self {
        let directory = tempfile::tempdir().expect("a directory");
        let store = warren_store::scratch(directory.path(), Env::system(), &Tasks::new()).await;
        Self { store: store.expect("the store opens"), directory }
    }

    /// A server with a key file of this name.
    fn server(&self, key_file: &str) -> Providers {
        let provider = |name: &str, formats: &[Format]| ConfiguredProvider {
            name: name.to_owned(),
            label: name.to_uppercase(),
            formats: formats.to_vec(),
            base_url: format!("https://{name}.test"),
            key_source: None,
            key_ending: None,
            is_demo: true,
            variable: "KEY".to_owned(),
        };
        let options = ProviderOptions {
            all: vec![
                provider("one", &[Format::Anthropic]),
                provider("two", &[Format::OpenAiResponses, Format::OpenAiChat]),
            ],
            key_file: self.directory.path().join(key_file),
            allow_http: false,
        };
        Providers::new(options, Arc::clone(&self.store.providers), Env::system())
    }
}

fn wish(api_key: Option<&str>, base_url: Option<&str>) -> ProviderWish {
    ProviderWish { api_key: api_key.map(Secret::new), base_url: base_url.map(str::to_owned) }
}

fn http(base_url: &str, api_key: Option<&str>) -> UpstreamOptions {
    UpstreamOptions::Http { base_url: base_url.to_owned(), api_key: api_key.map(Secret::new) }
}

#[tokio::test]
async fn key_counts_for_every_format_of_its_provider_and_on_every_server_with_the_key_file() {
    let shelf = Shelf::new().await;
    let (here, there) = (shelf.server("shared.key"), shelf.server("shared.key"));
    assert_eq!(there.current().await, Some(Vec::new()));
    let set = here.set("two", wish(Some(KEY), None)).await.expect("it is set");
    let expected = ProviderSummary {
        name: "two".to_owned(),
        label: "TWO".to_owned(),
        base_url: "https://two.test".to_owned(),
        key_source: Some(KeySource::Page),
        key_ending: Some("cdef".to_owned()),
        is_set: true,
        is_demo: false,
        variable: "KEY".to_owned(),
        problem: None,
    };
    assert_eq!(set, expected);
    let counts = http("https://two.test", Some(KEY));
    let both = vec![(Format::OpenAiResponses, counts.clone()), (Format::OpenAiChat, counts)];
    assert_eq!((here.current().await, there.current().await), (Some(both.clone()), Some(both)));
    here.unset("two").await.expect("it is removed");
    assert_eq!(there.current().await, Some(Vec::new()));
    assert!(matches!(here.unset("two").await, Err(SessionError::NotFound { .. })));
}

#[tokio::test]
async fn setting_an_address_alone_sends_no_key_that_was_set_before() {
    let shelf = Shelf::new().await;
    let server = shelf.server("k");
    server.set("one", wish(Some(KEY), Some("https://own.test/"))).await.expect("it is set");
    assert_eq!(server.current().await, Some(vec![(Format::Anthropic, http("https://own.test", Some(KEY)))]));
    server.set("one", wish(None, Some("http://127.0.0.1:1"))).await.expect("it is set");
    assert_eq!(server.current().await, Some(vec![(Format::Anthropic, http("http://127.0.0.1:1", None))]));
}

#[tokio::test]
async fn sealed_key_is_not_opened_for_an_address_that_somebody_wrote_into_the_database() {
    let shelf = Shelf::new().await;
    let server = shelf.server("k");
    server.set("one", wish(Some(KEY), None)).await.expect("it is set");
    let mut record = shelf.store.providers.providers().await.expect("records").remove(0);
    assert!(!record.sealed_key.as_ref().expect("a key").contains("0123"));
    record.base_url = Some("https://thief.test".to_owned());
    shelf.store.providers.put_provider(&record).await.expect("it is put");
    assert_eq!(server.current().await, Some(Vec::new()));
    let listed = server.list().await.expect("a list").remove(0);
    assert!(listed.problem.is_some() && listed.is_demo, "{listed:?}");
}

#[tokio::test]
async fn server_with_another_key_file_says_so_and_does_not_make_keys_that_the_first_cannot_read() {
    let shelf = Shelf::new().await;
    let (first, second) = (shelf.server("first.key"), shelf.server("second.key"));
    first.set("one", wish(Some(KEY), None)).await.expect("it is set");
    assert_eq!(second.current().await, Some(Vec::new()));
    for provider in ["one", "two"] {
        let refused = second.set(provider, wish(Some(KEY), None)).await.expect_err("another key file");
        assert_eq!(refused.code(), ErrorCode::Conflict, "{refused}");
    }
    let advice = second.advice().await;
    assert!(advice.iter().any(|(problem, _)| problem.contains("not used")), "{advice:?}");
    // Its file is put right while it runs.
    std::fs::copy(shelf.directory.path().join("first.key"), shelf.directory.path().join("second.key"))
        .expect("copied");
    assert_eq!(second.current().await, first.current().await);
}

#[tokio::test]
async fn after_the_key_file_was_lost_keys_are_set_again_once_the_old_ones_are_removed() {
    let shelf = Shelf::new().await;
    let server = shelf.server("k");
    server.set("one", wish(Some(KEY), None)).await.expect("it is set");
    std::fs::remove_file(shelf.directory.path().join("k")).expect("lost");
    let again = shelf.server("k");
    let refused = again.set("one", wish(Some(KEY), None)).await.expect_err("the old one is there");
    assert_eq!(refused.code(), ErrorCode::Conflict, "{refused}");
    again.unset("one").await.expect("it is removed");
    again.set("one", wish(Some(KEY), None)).await.expect("it is set");
    assert_eq!(again.current().await, Some(vec![(Format::Anthropic, http("https://one.test", Some(KEY)))]));
}

#[tokio::test]
async fn what_cannot_be_used_is_refused_and_nothing_of_it_is_told() {
    let shelf = Shelf::new().await;
    let server = shelf.server("k");
    for wanted in [
        wish(None, None),
        wish(Some(""), None),
        wish(Some("with space"), None),
        wish(Some("ünlike"), None),
        wish(Some(&"k".repeat(5000)), None),
        wish(Some(KEY), Some("http://10.0.0.1")),
        wish(Some(KEY), Some("https://ada:pass@one.test")),
        wish(None, Some(" ")),
    ] {
        let refused = server.set("one", wanted.clone()).await.expect_err("refused");
        assert_eq!(refused.code(), ErrorCode::BadRequest, "{wanted:?}");
        let told = format!("{refused} {refused:?} {:?}", refused.hint());
        for secret in [KEY, "with space", "ada:pass"] {
            assert!(!told.contains(secret) && !format!("{:?}", wanted.api_key).contains(secret), "{told}");
        }
    }
    assert!(matches!(server.set("three", wish(Some(KEY), None)).await, Err(SessionError::NotFound { .. })));
    assert_eq!(server.current().await, Some(Vec::new()));
}
