//! Events, and what of the program is passed on.

use serde_json::json;

use crate::{
    place::{Bridge, serving},
    server::{Script, Server},
};

fn events(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|text| (*text).to_owned()).collect()
}

#[test]
fn events_are_printed_as_they_are() {
    let sent = events(&[r#"{"a": "é\u2028"}"#, "not JSON", r#"{"b":[1, 2]}"#]);
    let server = Server::start([("/events", Script::Streams(vec![sent.clone()]))]);
    let bridge = Bridge::start(&serving(&server));
    assert_eq!([bridge.line(), bridge.line(), bridge.line()], *sent);
    assert_eq!(bridge.close().0, Some(0));
}

#[test]
fn a_stream_that_breaks_is_opened_again_and_that_is_said() {
    let streams = vec![events(&["1"]), events(&["2"]), events(&["3"])];
    let server = Server::start([("/events", Script::Streams(streams))]);
    let bridge = Bridge::start(&serving(&server));
    let lines: Vec<String> = (0..5).map(|_| bridge.line()).collect();
    let again = r#"{"type":"warren.reconnected"}"#;
    assert_eq!(lines, ["1", again, "2", again, "3"]);
    assert_eq!(bridge.close().0, Some(0));
}

#[test]
fn an_event_that_is_too_long_breaks_the_stream_and_not_the_bridge() {
    let streams = vec![vec!["x".repeat(17 * 1024 * 1024)], events(&["2"])];
    let server = Server::start([("/events", Script::Streams(streams))]);
    let bridge = Bridge::start(&serving(&server));
    assert_eq!([bridge.line(), bridge.line()], [r#"{"type":"warren.reconnected"}"#, "2"]);
    assert_eq!(bridge.close().0, Some(0));
}

#[test]
fn what_the_program_prints_goes_to_the_error_stream() {
    let server = Server::start([("/events", Script::Streams(vec![events(&["1"])]))]);
    let says = "echo later; echo wrong >&2; while [ ! -e go ]; do sleep 0.01; done; echo last";
    let mut bridge = Bridge::start(&format!("echo early; echo up at {}; {says}", server.url));
    assert_eq!(bridge.line(), "1");
    bridge.ask(&json!({"id": 1, "run": ["/bin/sh", "-c", "touch go"]}));
    let (code, said) = bridge.wait();
    assert_eq!(code, Some(0));
    let mut lines: Vec<&str> = said.lines().collect();
    lines.sort_unstable();
    assert_eq!(lines, ["bridge: early", "bridge: last", "bridge: later", "wrong"]);
}

#[test]
fn every_call_carries_the_password_that_only_the_program_knows() {
    let server = Server::start([
        ("/events", Script::Streams(vec![vec![]])),
        ("/x", Script::Answer(200, String::new())),
    ]);
    let script = format!("printf 'u:%s' \"$SECRET\" | base64 -w0 > secret; {}", serving(&server));
    let mut bridge = Bridge::start(&script);
    assert_eq!(bridge.answer(&json!({"id": 1, "method": "GET", "path": "/x"})).0, 200);
    let expected = Some(format!("Basic {}", bridge.wait_for("secret")));
    let carried: Vec<Option<String>> = server.asked().into_iter().map(|asked| asked.authorization).collect();
    assert_eq!(carried, [expected.clone(), expected]);
    assert_eq!(bridge.close().0, Some(0));
}
