//! Which headers pass, in either direction. Lists of what passes, because a list of what does not is never complete.

use hyper::{
    HeaderMap,
    header::{ACCEPT, ACCEPT_ENCODING, AUTHORIZATION, CONTENT_TYPE, HeaderName, HeaderValue, USER_AGENT},
};

use crate::Secret;

/// What goes to every provider: our own headers, and from the sandbox what it accepts and what the format lists.
pub(crate) fn of_request(sandbox: &HeaderMap, listed: &[&'static str]) -> HeaderMap {
    let mut headers = HeaderMap::new();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    headers.insert(USER_AGENT, HeaderValue::from_static(concat!("warren/", env!("CARGO_PKG_VERSION"))));
    // The meter reads the answer on its way, and so cannot have it compressed.
    headers.insert(ACCEPT_ENCODING, HeaderValue::from_static("identity"));
    let listed = listed.iter().map(|name| HeaderName::from_static(name));
    for name in std::iter::once(ACCEPT).chain(listed) {
        for value in sandbox.get_all(&name) {
            headers.append(&name, value.clone());
        }
    }
    headers
}

/// What of an answer a sandbox sees: the headers that are listed, and those with this beginning.
pub(crate) fn of_answer(provider: &HeaderMap, listed: &[&str], prefix: &str) -> HeaderMap {
    let passes = |name: &HeaderName| listed.contains(&name.as_str()) || name.as_str().starts_with(prefix);
    let kept = provider.iter().filter(|(name, _)| passes(name));
    kept.map(|(name, value)| (name.clone(), value.clone())).collect()
}

pub(crate) fn bearer(key: &Secret) -> Option<(HeaderName, HeaderValue)> {
    sensitive(AUTHORIZATION, &format!("Bearer {}", key.expose()))
}

/// A header that no log shows. A key that is no legal value was refused at the start, so it is only left out here.
pub(crate) fn sensitive(name: HeaderName, text: &str) -> Option<(HeaderName, HeaderValue)> {
    let mut value = HeaderValue::from_str(text).ok()?;
    value.set_sensitive(true);
    Some((name, value))
}
