//! A client of Socket.IO 4 by polling, as its protocol describes it.

use std::collections::VecDeque;

use reqwest::{Method, StatusCode};
use serde_json::{Value, json};
use warren_testkit::TestClient;

/// One connection, and what came in that was not taken yet.
pub(super) struct Socket {
    client: TestClient,
    path: String,
    came: VecDeque<String>,
}

impl Socket {
    /// Connects and shows a token.
    pub(super) async fn connect(client: &TestClient, token: &str) -> Self {
        let path = "/socket.io/?EIO=4&transport=polling";
        let mut socket = Self { client: client.clone(), path: path.to_owned(), came: VecDeque::new() };
        let opened = socket.packet().await;
        let opened: Value =
            serde_json::from_str(opened.strip_prefix('0').expect("an open packet")).expect("JSON");
        socket.path = format!("{path}&sid={}", opened["sid"].as_str().expect("an id"));
        socket.post(&format!("40{}", json!({"token": token}))).await;
        assert!(socket.packet().await.starts_with("40"), "it is let in");
        socket
    }

    /// Sends a message; what is acknowledged comes among what comes in.
    pub(super) async fn emit(&mut self, name: &str, argument: &Value) {
        self.post(&format!("420{}", json!([name, argument]))).await;
    }

    /// The next message, with what is in it; of an acknowledgement the name is `ack`.
    async fn next(&mut self) -> (String, Value) {
        let packet = self.packet().await;
        let (ack, event) = (packet.strip_prefix("430"), packet.strip_prefix("42"));
        let values: Value = serde_json::from_str(ack.or(event).expect("a message")).expect("JSON");
        match (ack.is_some(), values.as_array().expect("a list").as_slice()) {
            (true, [content]) => ("ack".to_owned(), content.clone()),
            (false, [name, content]) => (name.as_str().expect("a name").to_owned(), content.clone()),
            _ => panic!("a message has a name and one argument: {values}"),
        }
    }

    /// Everything up to the first message of which `is_last` is true.
    pub(super) async fn until(&mut self, is_last: impl Fn(&str, &Value) -> bool) -> Vec<(String, Value)> {
        let mut seen = Vec::new();
        loop {
            let (name, content) = self.next().await;
            let is_over = is_last(&name, &content);
            seen.push((name, content));
            if is_over {
                return seen;
            }
        }
    }

    /// The next packet that is no ping: those are answered.
    async fn packet(&mut self) -> String {
        loop {
            match self.came.pop_front() {
                Some(packet) if packet == "2" => self.post("3").await,
                Some(packet) => return packet,
                None => self.poll().await,
            }
        }
    }

    async fn poll(&mut self) {
        let request = self.client.request(Method::GET, &self.path);
        let answer = request.send().await.expect("the server answers");
        assert_eq!(answer.status(), StatusCode::OK);
        let text = answer.text().await.expect("text");
        self.came.extend(text.split('\u{1e}').map(str::to_owned));
    }

    async fn post(&self, packet: &str) {
        let request = self.client.request(Method::POST, &self.path).header("content-type", "text/plain");
        let answer = request.body(packet.to_owned()).send().await.expect("the server answers");
        assert_eq!(answer.status(), StatusCode::OK);
    }
}
