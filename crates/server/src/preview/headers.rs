//! Headers forwarded to an app and back.

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

/// Name prefix of Warren's cookies. An app neither sees nor sets them.
const OURS: &str = "warren_";

/// What the page says to us, and what somebody before us said of the client. An app is told neither: it is asked as by a
/// program on its own machine, and whoever believed in another host would find `Origin` wrong.
const NOT_ITS: [HeaderName; 9] = [
    header::AUTHORIZATION,
    header::REFERER,
    header::FORWARDED,
    HeaderName::from_static("x-warren-csrf"),
    HeaderName::from_static("x-forwarded-for"),
    HeaderName::from_static("x-forwarded-host"),
    HeaderName::from_static("x-forwarded-port"),
    HeaderName::from_static("x-forwarded-proto"),
    HeaderName::from_static("x-real-ip"),
];

/// The names an app has for the machine it runs on.
const LOOPBACK: [&str; 4] = ["localhost", "127.0.0.1", "[::1]", "0.0.0.0"];

/// The request's headers as the app gets them: nothing of the page's, and the names a program on its own machine would
/// use, because some look.
pub(super) fn inwards(headers: &HeaderMap, port: u16, is_upgrade: bool) -> HeaderMap {
    let mut inner = headers.clone();
    of_the_message(&mut inner, is_upgrade);
    NOT_ITS.iter().for_each(|name| drop(inner.remove(name)));
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
    inner
}

/// The app's headers as the browser gets them, on the host with this origin.
pub(super) fn outwards(headers: &mut HeaderMap, port: u16, origin: &str, is_upgrade: bool) {
    of_the_message(headers, is_upgrade);
    // The page shows it in a frame, whatever the app says of frames.
    headers.remove(header::X_FRAME_OPTIONS);
    each(headers, header::CONTENT_SECURITY_POLICY, own_policy);
    each(headers, header::SET_COOKIE, own_set_cookie);
    for name in [header::LOCATION, header::CONTENT_LOCATION] {
        each(headers, name, |value| Some(on_its_host(value, port, origin)));
    }
}

/// Takes away what belongs to one connection: what always does, and what `Connection` names.
fn of_the_message(headers: &mut HeaderMap, is_upgrade: bool) {
    let upgrade = headers.get(header::UPGRADE).cloned().filter(|_| is_upgrade);
    let named = headers.get_all(header::CONNECTION).iter().filter_map(|value| value.to_str().ok());
    let named = named.flat_map(|value| value.split(',')).filter_map(|name| name.trim().parse().ok());
    let named: Vec<HeaderName> = named.collect();
    HOP_BY_HOP.iter().chain(&named).for_each(|name| drop(headers.remove(name)));
    if let Some(upgrade) = upgrade {
        headers.insert(header::CONNECTION, HeaderValue::from_static("upgrade"));
        headers.insert(header::UPGRADE, upgrade);
    }
}

/// Changes every value of a header, or takes it away.
fn each(headers: &mut HeaderMap, name: HeaderName, change: impl Fn(&HeaderValue) -> Option<HeaderValue>) {
    let values: Vec<_> = headers.get_all(&name).iter().filter_map(change).collect();
    headers.remove(&name);
    for value in values {
        headers.append(&name, value);
    }
}

/// An address on the app's own machine is one on the host where it is seen: for the browser `localhost` is another machine.
fn on_its_host(value: &HeaderValue, port: u16, origin: &str) -> HeaderValue {
    let moved = value.to_str().ok().and_then(|text| path_on(text, port));
    let moved = moved.and_then(|path| HeaderValue::from_str(&format!("{origin}{path}")).ok());
    moved.unwrap_or_else(|| value.clone())
}

/// What follows the origin, if an address is one of this port on the machine itself.
fn path_on(address: &str, port: u16) -> Option<&str> {
    let rest = ["http://", "https://", "//"].into_iter().find_map(|scheme| address.strip_prefix(scheme))?;
    let (host, path) = rest.split_at(rest.find(['/', '?', '#']).unwrap_or(rest.len()));
    let name = host.strip_suffix(&format!(":{port}")).unwrap_or(host);
    LOOPBACK.iter().any(|own| name.eq_ignore_ascii_case(own)).then_some(path)
}

/// A policy without what it says of frames, and of who is told when it is broken: that may be somebody elsewhere. None if
/// that was all it said.
fn own_policy(value: &HeaderValue) -> Option<HeaderValue> {
    let Ok(text) = value.to_str() else { return Some(value.clone()) };
    let name = |directive: &str| directive.split_ascii_whitespace().next().unwrap_or_default().to_owned();
    let left_out = ["frame-ancestors", "report-uri", "report-to"];
    let is_kept = |directive: &&str| !left_out.iter().any(|it| name(directive).eq_ignore_ascii_case(it));
    let policy = |policy: &str| policy.split(';').filter(is_kept).collect::<Vec<_>>().join(";");
    let policies = text.split(',').map(policy).filter(|policy| !policy.trim().is_empty());
    let policies = policies.collect::<Vec<_>>().join(",");
    HeaderValue::from_str(policies.trim()).ok().filter(|_| !policies.is_empty())
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
    let name = |part: &str| part.split('=').next().unwrap_or_default().trim().to_ascii_lowercase();
    let is_domain = |part: &&str| name(part) == "domain";
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
            (header::CONNECTION, "keep-alive, X-Hop"),
            (HeaderName::from_static("x-hop"), "1"),
            (HeaderName::from_static("x-warren-csrf"), "c"),
            (header::FORWARDED, "for=10.0.0.1"),
            (HeaderName::from_static("x-forwarded-host"), "evil.example"),
            (HeaderName::from_static("x-forwarded-proto"), "https"),
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

    const ORIGIN: &str = "http://3000-x.localhost:7777";

    #[test]
    fn an_app_sets_cookies_for_itself_only() {
        let mut answered = HeaderMap::new();
        for cookie in
            ["id=7; Domain=example.com; Path=/", "warren_preview=stolen", "plain=1", "a=1; domain =x"]
        {
            answered.append(header::SET_COOKIE, HeaderValue::from_static(cookie));
        }
        outwards(&mut answered, 3000, ORIGIN, false);
        let cookies: Vec<_> = answered.get_all(header::SET_COOKIE).iter().collect();
        assert_eq!(cookies, ["id=7; Path=/", "plain=1", "a=1"]);
    }

    #[test]
    fn what_an_app_says_of_frames_is_not_told_and_the_rest_of_its_policy_is() {
        for (said, told) in [
            ("frame-ancestors 'none'", None),
            (
                "default-src 'self'; Frame-Ancestors 'self' https://a.example; img-src *",
                Some("default-src 'self'; img-src *"),
            ),
            ("default-src 'self'", Some("default-src 'self'")),
            ("frame-ancestors 'none', script-src 'self'", Some("script-src 'self'")),
            ("img-src 'none'; report-uri https://evil.example; Report-To x", Some("img-src 'none'")),
        ] {
            let mut answered = headers(&[
                (header::X_FRAME_OPTIONS, "DENY"),
                (header::CONTENT_SECURITY_POLICY, said),
                (header::CONNECTION, "close, x-hop"),
                (HeaderName::from_static("x-hop"), "1"),
            ]);
            outwards(&mut answered, 3000, ORIGIN, false);
            let expect = told.map(|told| (header::CONTENT_SECURITY_POLICY, told));
            assert_eq!(answered, headers(expect.as_slice()), "{said}");
        }
    }

    #[test]
    fn an_app_that_leads_to_itself_leads_to_where_it_is_seen() {
        for (said, told) in [
            ("http://localhost:3000/there?a=b#c", "http://3000-x.localhost:7777/there?a=b#c"),
            ("https://127.0.0.1:3000", "http://3000-x.localhost:7777"),
            ("//LOCALHOST:3000?a", "http://3000-x.localhost:7777?a"),
            ("http://[::1]:3000//evil.example/", "http://3000-x.localhost:7777//evil.example/"),
            ("http://localhost/there", "http://3000-x.localhost:7777/there"),
            ("/there", "/there"),
            ("http://localhost:3001/there", "http://localhost:3001/there"),
            ("http://localhost.example:3000/", "http://localhost.example:3000/"),
            ("https://example.com/localhost:3000/", "https://example.com/localhost:3000/"),
        ] {
            for name in [header::LOCATION, header::CONTENT_LOCATION] {
                let mut answered = headers(&[(name.clone(), said)]);
                outwards(&mut answered, 3000, ORIGIN, false);
                assert_eq!(answered, headers(&[(name, told)]), "{said}");
            }
        }
    }
}
