use axum::http::{HeaderMap, HeaderValue, Method, Uri, header};
use warren_domain::ErrorCode;

use super::Hosts;

fn check(
    hosts: &Hosts,
    method: &Method,
    host: &str,
    headers: &[(&'static str, &'static str)],
) -> Option<ErrorCode> {
    let mut map = HeaderMap::new();
    map.insert(header::HOST, HeaderValue::from_str(host).expect("a header"));
    for (name, value) in headers {
        map.append(*name, HeaderValue::from_static(value));
    }
    hosts.check(method, &Uri::from_static("/api"), &map).err().map(|failure| failure.code)
}

fn hosts(listen: &str, names: &[&str]) -> Hosts {
    let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
    Hosts::new(listen.parse().expect("an address"), &names, false)
}

#[test]
fn only_our_own_names_are_answered() {
    let local = hosts("127.0.0.1:7777", &["Warren.Example"]);
    for ours in
        ["127.0.0.1:7777", "localhost:7777", "LOCALHOST", "localhost.", "[::1]:7777", "warren.example:443"]
    {
        assert_eq!(check(&local, &Method::GET, ours, &[]), None, "{ours}");
    }
    for other in [
        "evil.example",
        "evil.example:7777",
        "localhost.evil.example",
        "127.0.0.1.evil.example",
        "10.0.0.5:7777",
        "",
        "a b",
        "localhost:x",
        "[::1",
        "user@localhost",
    ] {
        assert_eq!(check(&local, &Method::GET, other, &[]), Some(ErrorCode::Misdirected), "{other}");
    }
}

#[test]
fn a_listener_on_every_address_answers_to_addresses_but_not_to_any_name() {
    let open = hosts("0.0.0.0:80", &[]);
    for ours in ["10.0.0.5", "192.168.1.2:80", "[2001:db8::1]:80", "localhost"] {
        assert_eq!(check(&open, &Method::GET, ours, &[]), None, "{ours}");
    }
    assert_eq!(check(&open, &Method::GET, "rebound.evil.example", &[]), Some(ErrorCode::Misdirected));
}

#[test]
fn two_targets_or_none_are_refused() {
    let local = hosts("127.0.0.1:7777", &[]);
    assert_eq!(
        check(&local, &Method::GET, "localhost", &[("host", "evil.example")]),
        Some(ErrorCode::Misdirected)
    );
    let none = local.check(&Method::GET, &Uri::from_static("/"), &HeaderMap::new());
    assert!(none.is_err_and(|failure| failure.code == ErrorCode::Misdirected));
}

#[test]
fn a_page_of_another_origin_changes_nothing() {
    let local = hosts("127.0.0.1:7777", &["warren.example"]);
    let post =
        |headers: &[(&'static str, &'static str)]| check(&local, &Method::POST, "localhost:7777", headers);
    for ours in [
        &[][..],
        &[("origin", "http://localhost:7777")],
        &[("origin", "https://warren.example")],
        &[("sec-fetch-site", "same-origin")],
        &[("sec-fetch-site", "none")],
    ] {
        assert_eq!(post(ours), None, "{ours:?}");
    }
    for other in [
        ("origin", "http://localhost:3000"),
        ("origin", "http://127.0.0.1:7777"),
        ("origin", "https://evil.example"),
        ("origin", "null"),
        ("origin", ""),
        ("origin", "file://localhost:7777"),
        ("sec-fetch-site", "cross-site"),
        ("sec-fetch-site", "same-site"),
    ] {
        assert_eq!(post(&[other]), Some(ErrorCode::Forbidden), "{other:?}");
    }
    let read = check(&local, &Method::GET, "localhost:7777", &[("origin", "https://evil.example")]);
    assert_eq!(read, None, "reading is left to the browser, which gives the page nothing without CORS");
}

/// What a page of `origin` gets that calls the server as `host`, by a call that changes something and by a socket.
#[track_caller]
fn check_origin(hosts: &Hosts, host: &str, origin: &'static str, is_ours: bool) {
    let mut headers = HeaderMap::new();
    headers.insert(header::HOST, HeaderValue::from_str(host).expect("a header"));
    headers.insert(header::ORIGIN, HeaderValue::from_static(origin));
    for (method, path) in [(Method::POST, "/api/sessions"), (Method::GET, "/socket.io/?EIO=4")] {
        let refused =
            hosts.check(&method, &Uri::from_static(path), &headers).err().map(|failure| failure.code);
        let expected = (!is_ours).then_some(ErrorCode::Forbidden);
        assert_eq!(refused, expected, "{origin} calls {host} by {method} {path}");
    }
}

/// Scheme, host and port; a port that is not written is the scheme's usual one.
#[test]
fn an_origin_is_ours_by_scheme_host_and_port() {
    let names = |is_secure| {
        Hosts::new("127.0.0.1:7777".parse().expect("an address"), &["Warren.example".into()], is_secure)
    };
    let (plain, secure) = (names(false), names(true));
    let ported = hosts("127.0.0.1:7777", &["warren.example:8443"]);
    let on_eighty = hosts("127.0.0.1:80", &[]);
    let table: &[(&Hosts, &str, &'static str, bool)] = &[
        // The listener itself speaks HTTP on its port.
        (&plain, "localhost:7777", "http://localhost:7777", true),
        (&plain, "LOCALHOST:7777", "http://localhost:7777", true),
        (&plain, "[::1]:7777", "http://[::1]:7777", true),
        (&plain, "localhost:7777", "https://localhost:7777", false),
        (&plain, "localhost:7777", "http://localhost", false),
        (&plain, "localhost:7777", "http://localhost:3000", false),
        (&plain, "localhost:7777", "http://127.0.0.1:7777", false),
        (&on_eighty, "localhost", "http://localhost", true),
        (&on_eighty, "localhost:80", "http://localhost", true),
        (&on_eighty, "localhost", "http://localhost:80", true),
        (&on_eighty, "localhost", "https://localhost", false),
        // Behind a proxy that keeps the name.
        (&plain, "warren.example", "https://warren.example", true),
        (&plain, "warren.example", "https://warren.example:443", true),
        (&plain, "warren.example:443", "https://warren.example", true),
        (&plain, "warren.example", "http://warren.example", true),
        (&plain, "warren.example:8443", "https://warren.example:8443", true),
        (&plain, "warren.example", "https://warren.example:8443", false),
        (&plain, "warren.example", "http://warren.example:443", false),
        (&plain, "warren.example", "http://warren.example:3000", false),
        (&plain, "warren.example", "ftp://warren.example", false),
        // Behind a proxy that calls the server by the name it has for it.
        (&plain, "localhost:7777", "https://warren.example", true),
        (&plain, "localhost:7777", "https://WARREN.example:443", true),
        (&plain, "localhost:7777", "https://warren.example:7777", false),
        (&plain, "localhost:7777", "https://warren.example:3000", false),
        (&plain, "localhost:7777", "https://sub.warren.example", false),
        (&plain, "localhost:7777", "https://warren.example.evil.example", false),
        // Cookies over TLS only: so are pages.
        (&secure, "warren.example", "https://warren.example", true),
        (&secure, "warren.example", "http://warren.example", false),
        (&secure, "localhost:7777", "http://warren.example", false),
        (&secure, "localhost:7777", "http://localhost:7777", true),
        (&secure, "localhost:8443", "https://localhost:8443", true),
        // A port that was configured is the one that browsers use.
        (&ported, "localhost:7777", "https://warren.example:8443", true),
        (&ported, "warren.example:8443", "https://warren.example:8443", true),
        (&ported, "localhost:7777", "https://warren.example", false),
        (&ported, "warren.example", "https://warren.example", false),
        // What is no origin.
        (&plain, "localhost:7777", "null", false),
        (&plain, "localhost:7777", "", false),
        (&plain, "localhost:7777", "localhost:7777", false),
        (&plain, "localhost:7777", "http://localhost:7777/", false),
        (&plain, "localhost:7777", "http://localhost:99999", false),
        (&plain, "localhost:7777", "http://user@localhost:7777", false),
    ];
    for (hosts, host, origin, is_ours) in table {
        check_origin(hosts, host, origin, *is_ours);
    }
}
