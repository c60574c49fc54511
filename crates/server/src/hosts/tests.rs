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
    Hosts::new(listen.parse().expect("an address"), &names)
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
