//! What of a request goes on to an app, and what of its answer comes back.

use axum::http::{HeaderMap, HeaderName, HeaderValue, header};

/// Belong to one connection, not to the message.
const HOP_BY_HOP: [HeaderName; 7] = [
    header::CONNECTION,
    HeaderName::from_static("keep-alive"),
    header::PROXY_AUTHENTICATE,
    header::PROXY_AUTHORIZATION,
    header::TE,
    header::TRAILER,
    header::UPGRADE,
];

/// What every cookie of ours is called at its beginning. An app sees none of them and sets none.
const OURS: &str = "warren_";

/// The request's headers as the app gets them: nothing of the page's, and the names a program on its own machine would
/// use, because some look.
pub(super) fn inwards(headers: &HeaderMap, port: u16, is_upgrade: bool) -> HeaderMap {
    let mut inner = headers.clone();
    let upgrade = headers.get(header::UPGRADE).cloned().filter(|_| is_upgrade);
    HOP_BY_HOP.iter().for_each(|name| drop(inner.remove(name)));
    inner.remove(header::AUTHORIZATION);
    inner.remove(header::REFERER);
    let cookies = own_cookies(headers);
    inner.remove(header::COOKIE);
    if let Ok(value) = HeaderValue::from_str(&cookies)
        && !cookies.is_empty()
    {
        inner.insert(header::COOKIE, value);
    }
    let local = format!("localhost:{port}");
    if let Ok(value) = HeaderValue::from_str(&local) {
        inner.insert(header::HOST, value);
    }
    if headers.contains_key(header::ORIGIN)
        && let Ok(value) = HeaderValue::from_str(&format!("http://{local}"))
    {
        inner.insert(header::ORIGIN, value);
    }
    if let Some(upgrade) = upgrade {
        inner.insert(header::CONNECTION, HeaderValue::from_static("upgrade"));
        inner.insert(header::UPGRADE, upgrade);
    }
    inner
}

/// The app's headers as the browser gets them.
pub(super) fn outwards(headers: &mut HeaderMap, is_upgrade: bool) {
    let upgrade = headers.get(header::UPGRADE).cloned().filter(|_| is_upgrade);
    HOP_BY_HOP.iter().for_each(|name| drop(headers.remove(name)));
    if let Some(upgrade) = upgrade {
        headers.insert(header::CONNECTION, HeaderValue::from_static("upgrade"));
        headers.insert(header::UPGRADE, upgrade);
    }
    // The page shows it in a frame.
    headers.remove(header::X_FRAME_OPTIONS);
    let cookies: Vec<HeaderValue> =
        headers.get_all(header::SET_COOKIE).iter().filter_map(own_set_cookie).collect();
    headers.remove(header::SET_COOKIE);
    for cookie in cookies {
        headers.append(header::SET_COOKIE, cookie);
    }
}

/// The app's own cookies, as one header.
fn own_cookies(headers: &HeaderMap) -> String {
    let values = headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
    let cookies = values.flat_map(|value| value.split(';')).map(str::trim);
    let own = cookies.filter(|cookie| !cookie.is_empty() && !cookie.starts_with(OURS));
    own.collect::<Vec<_>>().join("; ")
}

/// A cookie that an app sets stays on the app's own host.
fn own_set_cookie(value: &HeaderValue) -> Option<HeaderValue> {
    let text = value.to_str().ok()?;
    if text.trim_start().starts_with(OURS) {
        return None;
    }
    let is_domain = |part: &&str| part.trim().to_ascii_lowercase().starts_with("domain=");
    let parts: Vec<_> = text.split(';').filter(|part| !is_domain(part)).collect();
    HeaderValue::from_str(&parts.join(";")).ok()
}

#[cfg(test)]
mod tests {
    use super::{inwards, outwards};
    use axum::http::{HeaderMap, HeaderName, HeaderValue, header};

    fn headers(pairs: &[(HeaderName, &'static str)]) -> HeaderMap {
        pairs.iter().map(|(name, value)| (name.clone(), HeaderValue::from_static(value))).collect()
    }

    #[test]
    fn nothing_of_the_pages_reaches_the_app() {
        let sent = headers(&[
            (header::HOST, "3000-x.localhost:7777"),
            (header::ORIGIN, "http://3000-x.localhost:7777"),
            (header::REFERER, "http://localhost:7777/sessions/secret"),
            (header::AUTHORIZATION, "Bearer wrn_0"),
            (header::COOKIE, "theme=dark; warren_preview=p; warren_session=s;warren_csrf=c; id=7"),
            (header::ACCEPT, "text/html"),
            (header::CONNECTION, "keep-alive"),
        ]);
        let inner = inwards(&sent, 3000, false);
        let expect = headers(&[
            (header::HOST, "localhost:3000"),
            (header::ORIGIN, "http://localhost:3000"),
            (header::COOKIE, "theme=dark; id=7"),
            (header::ACCEPT, "text/html"),
        ]);
        assert_eq!(inner, expect);
    }

    #[test]
    fn a_socket_is_asked_for_as_the_browser_did() {
        let sent = headers(&[
            (header::CONNECTION, "keep-alive, Upgrade"),
            (header::UPGRADE, "websocket"),
            (header::SEC_WEBSOCKET_KEY, "k"),
        ]);
        let inner = inwards(&sent, 5173, true);
        assert_eq!(
            (&inner[header::CONNECTION], &inner[header::UPGRADE]),
            (&"upgrade".parse().expect("a value"), &"websocket".parse().expect("a value"))
        );
        assert_eq!(inner[header::SEC_WEBSOCKET_KEY], "k");
    }

    #[test]
    fn an_app_sets_cookies_for_itself_only() {
        let mut answered = HeaderMap::new();
        for cookie in ["id=7; Domain=example.com; Path=/", "warren_preview=stolen", "plain=1"] {
            answered.append(header::SET_COOKIE, HeaderValue::from_static(cookie));
        }
        answered.insert(header::X_FRAME_OPTIONS, HeaderValue::from_static("DENY"));
        outwards(&mut answered, false);
        let cookies: Vec<_> = answered.get_all(header::SET_COOKIE).iter().collect();
        assert_eq!(cookies, ["id=7; Path=/", "plain=1"]);
        assert!(!answered.contains_key(header::X_FRAME_OPTIONS));
    }
}
