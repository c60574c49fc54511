//! Requests and their answers.

use std::fs;

use serde_json::{Value, json};

use crate::{
    place::{Bridge, no_events, serving},
    server::{Script, Server},
};

fn answer(status: u16, body: &str) -> Script {
    Script::Answer(status, body.to_owned())
}

#[test]
fn calls_are_made_and_answered_as_json_or_as_text() {
    let server = Server::start([
        no_events(),
        ("/json?a=1", answer(200, "{\n \"a\": [1]\n}")),
        ("/text", answer(418, "no \"tea\"\n")),
        ("/empty", answer(204, "")),
    ]);
    let mut bridge = Bridge::start(&serving(&server));
    let post = json!({"id": 1, "method": "POST", "path": "/json?a=1", "body": {"x": "y"}});
    assert_eq!(bridge.answer(&post), (200, json!({"a": [1]})));
    assert_eq!(bridge.answer(&json!({"id": 2, "path": "/text"})), (418, json!("no \"tea\"\n")));
    assert_eq!(bridge.answer(&json!({"id": 3, "path": "/empty"})), (204, Value::Null));
    assert_eq!(bridge.answer(&json!({"id": 4, "path": "/nowhere"})), (404, Value::Null));
    let asked: Vec<(String, String)> =
        server.asked().into_iter().map(|asked| (asked.line, asked.body)).collect();
    assert!(asked.contains(&("POST /json?a=1".to_owned(), r#"{"x":"y"}"#.to_owned())), "{asked:?}");
    assert_eq!(bridge.close().0, Some(0));
}

#[test]
fn a_request_that_gets_no_answer_is_told_so_and_holds_up_no_other() {
    let server = Server::start([no_events(), ("/silent", Script::Silent), ("/quick", answer(200, "1"))]);
    let mut bridge = Bridge::start(&serving(&server));
    bridge.ask(&json!({"id": 1, "path": "/silent", "timeoutMs": 300}));
    assert_eq!(bridge.answer(&json!({"id": 2, "path": "/quick"})), (200, json!(1)));
    let reply = bridge.reply();
    assert_eq!((&reply["id"], &reply["status"]), (&json!(1), &json!(0)));
    assert_eq!(bridge.answer(&json!({"id": 3, "path": "no path"})).0, 0);
    assert_eq!(bridge.answer(&json!({"id": 4, "run": 5})).0, 0, "what makes no sense is answered too");
    assert_eq!(bridge.answer(&json!({"id": 5, "delayMs": 1})), (200, Value::Null));
    assert_eq!(bridge.close().0, Some(0));
}

#[test]
fn answers_are_saved_together_beneath_the_home() {
    let server =
        Server::start([no_events(), ("/info", answer(200, r#"{"id":1}"#)), ("/list", answer(200, "[2]"))]);
    let mut bridge = Bridge::start(&serving(&server));
    let fields = json!([["info", "/info"], ["messages", "/list"]]);
    let save = json!({"id": 1, "save": "a/b/main.json", "fields": fields});
    assert_eq!(bridge.answer(&save), (200, Value::Null));
    let saved = fs::read_to_string(bridge.home("a/b/main.json")).expect("a file");
    assert_eq!(saved, r#"{"info":{"id":1},"messages":[2]}"#);
    for elsewhere in ["../x", "/tmp/x", "a/../../x", ""] {
        assert_eq!(bridge.answer(&json!({"id": 2, "save": elsewhere, "fields": fields})).0, 0, "{elsewhere}");
    }
    assert_eq!(bridge.close().0, Some(0));
}

#[test]
fn what_cannot_be_saved_whole_leaves_what_was_there() {
    let server = Server::start([
        no_events(),
        ("/info", answer(200, "{}")),
        ("/gone", answer(404, "")),
        ("/torn", Script::Torn("[1,".to_owned())),
    ]);
    let mut bridge = Bridge::start(&serving(&server));
    fs::write(bridge.home("main.json"), "old").expect("written");
    for broken in ["/gone", "/torn"] {
        let fields = json!([["info", "/info"], ["messages", broken]]);
        assert_eq!(bridge.answer(&json!({"id": 1, "save": "main.json", "fields": fields})).0, 0, "{broken}");
    }
    assert_eq!(fs::read_to_string(bridge.home("main.json")).expect("a file"), "old");
    let names: Vec<_> =
        fs::read_dir(bridge.home("")).expect("a directory").flatten().map(|it| it.file_name()).collect();
    assert_eq!(names, ["main.json"], "nothing unfinished is left");
    assert_eq!(bridge.close().0, Some(0));
}

#[test]
fn commands_are_run_and_their_end_is_told() {
    let server = Server::start([no_events()]);
    let mut bridge = Bridge::start(&serving(&server));
    let run =
        |id: u64, script: &str| json!({"id": id, "run": ["/bin/sh", "-c", script], "timeoutMs": 20_000});
    assert_eq!(bridge.answer(&run(1, "echo out; echo err >&2; exit 3")), (3, json!("out\n")));
    assert_eq!(bridge.answer(&run(2, "kill -9 $$")), (137, Value::Null));
    assert_eq!(bridge.answer(&json!({"id": 3, "run": ["/no/such/program"]})).0, 127);
    let (status, printed) = bridge.answer(&run(4, "head -c 200000 /dev/zero | tr '\\0' x"));
    assert_eq!((status, printed.as_str().map(str::len)), (0, Some(64 * 1024)));
    assert_eq!(bridge.close().0, Some(0));
}
