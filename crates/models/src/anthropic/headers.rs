//! Which headers pass, in either direction. Lists of what passes, because a list of what does not is never complete.

use hyper::{
    HeaderMap,
    header::{ACCEPT, ACCEPT_ENCODING, AUTHORIZATION, CONTENT_TYPE, HeaderName, HeaderValue, USER_AGENT},
};

use crate::Secret;

const VERSION: &str = "anthropic-version";
const BETA: &str = "anthropic-beta";
const API_KEY: &str = "x-api-key";

/// What tells a subscription's OAuth token from an API key, and the beta without which it is refused.
const OAUTH_PREFIX: &str = "sk-ant-oat";
const OAUTH_BETA: &str = "oauth-2025-04-20";

/// The version that a request without one is taken to mean.
const DEFAULT_VERSION: HeaderValue = HeaderValue::from_static("2023-06-01");

/// What of an answer's headers a sandbox sees. Not those that tell whose account it is.
const ANSWER: &[&str] = &["content-type", "content-encoding", "request-id", "retry-after", "x-should-retry"];
const ANSWER_PREFIX: &str = "anthropic-ratelimit-";

/// Version, betas and what is accepted come from the sandbox; the rest is ours. Its own key is dropped like all else.
pub(crate) fn request_headers(sandbox: &HeaderMap, key: Option<&Secret>) -> HeaderMap {
    let mut headers = HeaderMap::new();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    headers.insert(USER_AGENT, HeaderValue::from_static(concat!("warren/", env!("CARGO_PKG_VERSION"))));
    // The meter reads the answer on its way, and so cannot have it compressed.
    headers.insert(ACCEPT_ENCODING, HeaderValue::from_static("identity"));
    headers.insert(VERSION, sandbox.get(VERSION).cloned().unwrap_or(DEFAULT_VERSION));
    for name in [ACCEPT, HeaderName::from_static(BETA)] {
        for value in sandbox.get_all(&name) {
            headers.append(&name, value.clone());
        }
    }
    if let Some(key) = key {
        authorize(&mut headers, key);
    }
    headers
}

/// What the provider says to the sandbox; hop-by-hop headers, cookies and account names are not on the list.
pub(crate) fn answer_headers(provider: &HeaderMap) -> HeaderMap {
    let passes =
        |name: &HeaderName| ANSWER.contains(&name.as_str()) || name.as_str().starts_with(ANSWER_PREFIX);
    let kept = provider.iter().filter(|(name, _)| passes(name));
    kept.map(|(name, value)| (name.clone(), value.clone())).collect()
}

/// A key that is no legal header value was refused at the start, so it is only left out here.
fn authorize(headers: &mut HeaderMap, key: &Secret) {
    let bearer = key.expose().starts_with(OAUTH_PREFIX);
    let text = if bearer { format!("Bearer {}", key.expose()) } else { key.expose().to_owned() };
    let Ok(mut value) = HeaderValue::from_str(&text) else { return };
    value.set_sensitive(true);
    if bearer {
        headers.insert(AUTHORIZATION, value);
        headers.append(BETA, HeaderValue::from_static(OAUTH_BETA));
    } else {
        headers.insert(API_KEY, value);
    }
}

#[cfg(test)]
mod tests {
    use hyper::{HeaderMap, header::HeaderName, http::HeaderValue};

    use super::{answer_headers, request_headers};
    use crate::Secret;

    fn map(pairs: &[(&'static str, &'static str)]) -> HeaderMap {
        let pair = |&(name, value)| (HeaderName::from_static(name), HeaderValue::from_static(value));
        pairs.iter().map(pair).collect()
    }

    const FROM_SANDBOX: &[(&str, &str)] = &[
        ("x-api-key", "placeholder"),
        ("authorization", "Bearer placeholder"),
        ("cookie", "a=b"),
        ("host", "127.0.0.1:4000"),
        ("connection", "keep-alive, x-hop"),
        ("x-hop", "1"),
        ("transfer-encoding", "chunked"),
        ("x-forwarded-for", "10.0.0.1"),
        ("accept-encoding", "gzip"),
        ("accept", "text/event-stream"),
        ("anthropic-version", "2023-06-01"),
        ("anthropic-beta", "interleaved-thinking-2025-05-14"),
        ("user-agent", "agent/1"),
    ];

    #[test]
    fn only_listed_headers_and_the_real_key_go_to_the_provider() {
        let ours = [
            ("content-type", "application/json"),
            ("user-agent", concat!("warren/", env!("CARGO_PKG_VERSION"))),
            ("accept-encoding", "identity"),
            ("anthropic-version", "2023-06-01"),
            ("accept", "text/event-stream"),
            ("anthropic-beta", "interleaved-thinking-2025-05-14"),
        ];
        let with = |more: &[(&'static str, &'static str)]| map(&[&ours, more].concat());
        let sent = |key: Option<&str>| request_headers(&map(FROM_SANDBOX), key.map(Secret::new).as_ref());
        assert_eq!(sent(None), with(&[]));
        assert_eq!(sent(Some("sk-ant-api03-real")), with(&[("x-api-key", "sk-ant-api03-real")]));
        assert_eq!(
            sent(Some("sk-ant-oat01-real")),
            with(&[("anthropic-beta", "oauth-2025-04-20"), ("authorization", "Bearer sk-ant-oat01-real")])
        );
    }

    #[test]
    fn an_answer_keeps_what_agents_need_and_loses_whose_account_it_is() {
        let provider = map(&[
            ("content-type", "text/event-stream"),
            ("request-id", "req_1"),
            ("retry-after", "3"),
            ("anthropic-ratelimit-requests-remaining", "9"),
            ("anthropic-organization-id", "org"),
            ("set-cookie", "a=b"),
            ("connection", "keep-alive"),
            ("transfer-encoding", "chunked"),
        ]);
        let kept = map(&[
            ("content-type", "text/event-stream"),
            ("request-id", "req_1"),
            ("retry-after", "3"),
            ("anthropic-ratelimit-requests-remaining", "9"),
        ]);
        assert_eq!(answer_headers(&provider), kept);
    }
}
