use serde_json::json;

use super::{Announcement, Request};
use crate::{ExecRequest, FileLook, FilePath, MoveRequest, ReadRequest, Root, Stdio, WriteHow, WriteRequest};

/// The bytes of version 1. A failure here is a change of the protocol.
#[test]
fn requests_look_as_they_always_did() {
    let path = FilePath::new(Root::UserInput, "a/b");
    let cases = [
        (Request::Hello, json!({"request": "hello"})),
        (
            Request::Exec(ExecRequest { argv: vec!["ls".into()], ..ExecRequest::default() }),
            json!({"request": "exec", "argv": ["ls"], "env": {}, "cwd": null, "stdin": false, "limits": [],
                "leftovers": "keep"}),
        ),
        (
            Request::Exec(ExecRequest { stdio: Stdio::Sockets, ..ExecRequest::default() }),
            json!({"request": "exec", "argv": [], "env": {}, "cwd": null, "stdin": false, "limits": [],
                "leftovers": "keep", "stdio": "sockets"}),
        ),
        (
            Request::Read(ReadRequest { path: path.clone(), offset: 5, len: None }),
            json!({"request": "read", "path": {"root": "user-input", "path": "a/b"}, "offset": 5, "len": null}),
        ),
        (
            Request::Write(WriteRequest { path: path.clone(), how: WriteHow::At(7), mode: Some(0o600) }),
            json!({"request": "write", "path": {"root": "user-input", "path": "a/b"}, "how": {"at": 7}, "mode": 384}),
        ),
        (
            Request::Write(WriteRequest {
                path: path.clone(),
                how: WriteHow::ReplaceIf(FileLook { size: 3, mtime_ns: 9 }),
                mode: None,
            }),
            json!({"request": "write", "path": {"root": "user-input", "path": "a/b"},
                "how": {"replace_if": {"size": 3, "mtime_ns": 9}}, "mode": null}),
        ),
        (
            Request::Listen { name: "models".into(), port: 0 },
            json!({"request": "listen", "name": "models", "port": 0}),
        ),
        (Request::ScanTree, json!({"request": "scan_tree"})),
        (Request::WriteTree, json!({"request": "write_tree"})),
        (Request::Ports { ignore: vec![4100] }, json!({"request": "ports", "ignore": [4100]})),
    ];
    for (request, expected) in cases {
        assert_both_ways(&request, expected);
    }
}

#[test]
fn removals_and_moves_look_as_they_always_did() {
    let path = FilePath::new(Root::UserInput, "a/b");
    let cases = [
        (
            Request::Remove { path: path.clone(), recursive: true, expected: None },
            json!({"request": "remove", "path": {"root": "user-input", "path": "a/b"}, "recursive": true}),
        ),
        (
            Request::Remove {
                path: path.clone(),
                recursive: false,
                expected: Some(FileLook { size: 3, mtime_ns: 9 }),
            },
            json!({"request": "remove", "path": {"root": "user-input", "path": "a/b"}, "recursive": false,
                "expected": {"size": 3, "mtime_ns": 9}}),
        ),
        (
            Request::Move(MoveRequest {
                from: path.clone(),
                to: FilePath::new(Root::UserInput, "c"),
                expected: None,
            }),
            json!({"request": "move", "from": {"root": "user-input", "path": "a/b"},
                "to": {"root": "user-input", "path": "c"}}),
        ),
    ];
    for (request, expected) in cases {
        assert_both_ways(&request, expected);
    }
}

fn assert_both_ways(request: &Request, expected: serde_json::Value) {
    assert_eq!(serde_json::to_value(request).expect("writes"), expected);
    assert_eq!(&serde_json::from_value::<Request>(expected).expect("reads"), request);
}

#[test]
fn announcements_look_as_they_always_did() {
    let announcement = Announcement::Accepted { name: "models".into() };
    let expected = json!({"announcement": "accepted", "name": "models"});
    assert_eq!(serde_json::to_value(&announcement).expect("writes"), expected);
}

#[test]
fn a_request_with_a_field_too_many_is_refused() {
    let text = r#"{"request": "stat", "path": {"root": "home", "path": ""}, "follow": true}"#;
    serde_json::from_str::<Request>(text).expect_err("unknown field");
}
