//! Which headers pass, in either direction. Lists of what passes, because a list of what does not is never complete.

use hyper::{
    HeaderMap,
    header::{HeaderName, HeaderValue},
};

use crate::{Secret, headers};

const VERSION: &str = "anthropic-version";
const BETA: &str = "anthropic-beta";
const API_KEY: &str = "x-api-key";

/// What tells a subscription's OAuth token from an API key, and the beta without which it is refused.
const OAUTH_PREFIX: &str = "sk-ant-oat";
const OAUTH_BETA: &str = "oauth-2025-04-20";

/// The version that a request without one is taken to mean.
const DEFAULT_VERSION: HeaderValue = HeaderValue::from_static("2023-06-01");

/// What of an answer's headers a sandbox sees. Not those that tell whose account it is.
const ANSWER: &[&str] = &["content-type", "request-id", "retry-after", "x-should-retry"];
const ANSWER_PREFIX: &str = "anthropic-ratelimit-";

/// Version, betas and what is accepted come from the sandbox; the rest is ours. Its own key is dropped like all else.
pub(crate) fn request_headers(sandbox: &HeaderMap, key: Option<&Secret>) -> HeaderMap {
    let mut headers = headers::of_request(sandbox, &[BETA]);
    headers.insert(VERSION, sandbox.get(VERSION).cloned().unwrap_or(DEFAULT_VERSION));
    let Some(key) = key else { return headers };
    if key.expose().starts_with(OAUTH_PREFIX) {
        headers.extend(headers::bearer(key));
        headers.append(BETA, HeaderValue::from_static(OAUTH_BETA));
    } else {
        headers.extend(headers::sensitive(HeaderName::from_static(API_KEY), key.expose()));
    }
    headers
}

/// What the provider says to the sandbox; hop-by-hop headers, cookies and account names are not on the list.
pub(crate) fn answer_headers(provider: &HeaderMap) -> HeaderMap {
    headers::of_answer(provider, ANSWER, ANSWER_PREFIX)
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
