//! Traffic into sandboxes and out of them, and apps as they come, go and fail, through the whole server.

use std::time::Duration;

use reqwest::{Method, StatusCode};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
};
use warren_domain::{Seq, SessionId};
use warren_testkit::{Setup, TestAnswer, TestClient, TestServer};

use super::files::{artifacts, browse, enter};

/// The shortest rest after which a session sleeps that leaves a busy machine time enough to do anything before.
const IDLE: &str = "[sandbox]\nidle_timeout_seconds = 4";

/// Says something twice a second on two of its paths, nothing after the first word on a third, and its first word late on
/// a fourth.
const TALKER: &str = r#"
import http.server, os, time
class App(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    def do_GET(self):
        if self.path == "/late": time.sleep(8)
        socket = self.path == "/socket"
        self.send_response(101 if socket else 200)
        self.send_header("connection", "upgrade" if socket else "close")
        if socket: self.send_header("upgrade", "websocket")
        self.end_headers()
        self.wfile.write(b".")
        while self.path in ("/ticks", "/socket"):
            time.sleep(0.5)
            self.wfile.write(b".")
        if self.path == "/quiet": time.sleep(3600)
http.server.ThreadingHTTPServer(("127.0.0.1", int(os.environ["PORT"])), App).serve_forever()
"#;

async fn put(client: &TestClient, session: SessionId, path: &str, content: &str) {
    let path = format!("/api/sessions/{session}/fs?path={path}");
    client.send(client.request(Method::PUT, &path).body(content.to_owned())).await.expect(StatusCode::OK);
}

/// The first artifact, as soon as somebody found it.
async fn found(client: &TestClient, session: SessionId) -> Value {
    for _ in 0..300 {
        if let Some(artifact) = artifacts(client, session).await.into_iter().next() {
            return artifact;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    panic!("nothing was found");
}

/// An app with this command and one file; gives its host and the cookie for it.
async fn app(server: &TestServer, session: SessionId, command: &str, file: &str) -> (String, String) {
    let client = server.admin();
    let manifest = json!({"artifacts": [{"type": "web_app", "path": "app", "command": command}]});
    put(&client, session, "outputs/manifest.json", &manifest.to_string()).await;
    put(&client, session, "outputs/app/app.bin", file).await;
    let artifact = found(&client, session).await;
    enter(server, session, artifact["id"].as_str().expect("an id")).await
}

/// Looks until the app says something of its own, or has ended.
async fn until_it_answers(server: &TestServer, host: &str, cookie: &str) -> TestAnswer {
    for _ in 0..300 {
        let page = browse(server, host, "/", Some(cookie)).await;
        if page.status != StatusCode::SERVICE_UNAVAILABLE {
            return page;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    panic!("it neither listened nor ended");
}

/// Sends the head of a request over a connection of its own.
async fn ask(server: &TestServer, head: &str) -> TcpStream {
    let address = server.url().strip_prefix("http://").expect("http");
    let mut stream = TcpStream::connect(address).await.expect("a connection");
    let head = format!("{}\r\n\r\n", head.trim().replace('\n', "\r\n"));
    stream.write_all(head.as_bytes()).await.expect("sent");
    stream
}

async fn head_of(stream: &mut TcpStream) -> String {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(stream.read_u8().await.expect("a head"));
    }
    String::from_utf8_lossy(&head).into_owned()
}

async fn is_awake(client: &TestClient, session: SessionId) -> bool {
    let log = client.log(session).await;
    !log.iter().any(|event| event.json["runtime"]["sandbox"]["status"] == "terminated")
}

#[tokio::test]
async fn what_an_app_says_by_itself_keeps_its_session_awake_and_its_silence_does_not() {
    let server = Setup::new().config(IDLE).start().await;
    let client = server.admin();
    let session = client.session_create().await;
    let (host, cookie) = app(&server, session, "exec python3 app.bin", TALKER).await;
    until_it_answers(&server, &host, &cookie).await;
    let upgrade = "connection: upgrade\nupgrade: websocket\nsec-websocket-key: k\nsec-websocket-version: 13";
    for (path, more, status) in [("/ticks", "accept: */*", "200"), ("/socket", upgrade, "101")] {
        let head = format!("GET {path} HTTP/1.1\nhost: {host}\ncookie: {cookie}\n{more}");
        let mut stream = ask(&server, &head).await;
        let answered = head_of(&mut stream).await;
        assert!(answered.starts_with(&format!("HTTP/1.1 {status}")), "{answered}");
        // Eight seconds of the app's: twice as long as the session stays awake without a reason.
        let mut n_ticks = 0;
        while n_ticks < 16 {
            let byte = stream.read_u8().await;
            n_ticks += u32::from(byte.unwrap_or_else(|_| panic!("{path} was cut after {n_ticks}")) == b'.');
        }
    }
    let late = browse(&server, &host, "/late", Some(&cookie)).await;
    assert_eq!(late.status, StatusCode::OK, "{late:?}");
    assert!(is_awake(&client, session).await);

    let quiet = format!("GET /quiet HTTP/1.1\nhost: {host}\ncookie: {cookie}");
    let mut quiet = ask(&server, &quiet).await;
    head_of(&mut quiet).await;
    let mut events = client.events(session, Seq(0)).await;
    events.until(|event| event.json["runtime"]["sandbox"]["status"] == "terminated").await;
}

#[tokio::test]
async fn a_file_that_comes_or_goes_slowly_arrives_whole() {
    let server = Setup::new().config(IDLE).start().await;
    let client = server.admin();
    let session = client.session_create().await;
    client.run(session, "run: truncate -s 64M large").await;
    let token = server.token();
    let path = format!("/api/sessions/{session}");
    let head = format!(
        "PUT {path}/fs?path=slow.txt HTTP/1.1\nhost: localhost\nauthorization: Bearer {token}\ncontent-length: 16"
    );
    let mut stream = ask(&server, &head).await;
    for _ in 0..16 {
        stream.write_all(b"x").await.expect("sent");
        tokio::time::sleep(Duration::from_millis(500)).await;
    }
    let answered = head_of(&mut stream).await;
    assert!(answered.starts_with("HTTP/1.1 200"), "{answered}");
    let written = client.get(&format!("{path}/fs/read?path=slow.txt")).await.expect(StatusCode::OK);
    assert_eq!(written, json!("x".repeat(16)));

    let head = format!(
        "GET {path}/fs/read?path=large HTTP/1.1\nhost: localhost\nauthorization: Bearer {token}\nconnection: close"
    );
    let mut stream = ask(&server, &head).await;
    head_of(&mut stream).await;
    let (mut n_bytes, mut piece) = (0, vec![0; 800 << 10]);
    while let Ok(n @ 1..) = stream.read(&mut piece).await {
        n_bytes += n;
        tokio::time::sleep(Duration::from_millis(n as u64 >> 13)).await;
    }
    assert_eq!(n_bytes, 64 << 20);
    assert!(is_awake(&client, session).await);
}

#[tokio::test]
async fn a_file_whose_sandbox_ends_before_it_is_there_is_told_so() {
    let server = TestServer::start().await;
    let client = server.admin();
    let session = client.session_create().await;
    put(&client, session, "first.txt", "so that there is a sandbox").await;
    let head = format!(
        "PUT /api/sessions/{session}/fs?path=never.bin HTTP/1.1\nhost: localhost\nauthorization: Bearer {}\n\
         content-length: 40000000",
        server.token()
    );
    let mut stream = ask(&server, &head).await;
    // More than fits on the way: the sandbox has the beginning when this is sent.
    stream.write_all(&vec![7; 39_000_000]).await.expect("sent");
    let stop = format!("/api/sessions/{session}/sandbox/stop");
    client.post(&stop, &json!({})).await.expect(StatusCode::NO_CONTENT);
    let answered = head_of(&mut stream).await;
    assert!(answered.starts_with("HTTP/1.1 502"), "{answered}");
    let read = client.get(&format!("/api/sessions/{session}/fs/read?path=never.bin")).await;
    assert_eq!(read.refusal(), (404, "NOT_FOUND"));
}

#[tokio::test]
async fn an_app_that_ends_without_a_word_is_started_once_and_says_how_it_ended() {
    let server = TestServer::start().await;
    let client = server.admin();
    let session = client.session_create().await;
    let (host, cookie) = app(&server, session, "echo x >> /workspace/starts; exit 3", "data").await;
    for _ in 0..4 {
        let page = until_it_answers(&server, &host, &cookie).await;
        assert_eq!(page.status, StatusCode::BAD_GATEWAY, "{page:?}");
        assert!(page.body.as_str().expect("a page").contains("exit code 3"), "{page:?}");
    }
    let starts = client.get(&format!("/api/sessions/{session}/fs/read?path=starts")).await;
    assert_eq!(starts.expect(StatusCode::OK), json!("x\n"));
}

#[tokio::test]
async fn apps_have_addresses_of_their_own_before_they_are_started_and_keep_them() {
    let server = TestServer::start().await;
    let client = server.admin();
    let session = client.session_create().await;
    let made = "run: cd outputs && mkdir -p b c && printf '{\"scripts\":{\"dev\":\"vite\"}}' > b/package.json && \
        printf 'it works' > c/index.html && printf '{\"artifacts\":[{\"type\":\"web_app\",\"path\":\"c\",\
        \"command\":\"python3 -m http.server $PORT --bind 127.0.0.1\"}]}' > manifest.json";
    client.run(session, made).await;
    let places = async || -> Vec<(Value, Value, Value)> {
        let all = artifacts(&client, session).await;
        let apps = all.iter().filter(|it| it["kind"] == "web_app");
        apps.map(|it| (it["path"].clone(), it["port"].clone(), it["previewUrl"].clone())).collect()
    };
    let origin = server.url().replace("http://127.0.0.1", "localhost");
    let place = |path: &str, port: u16| {
        let url = format!("http://{port}-{session}.{origin}/");
        (json!(path), json!(port), json!(url))
    };
    let expect = [place("outputs/b", 3000), place("outputs/c", 3001)];
    assert_eq!(places().await, expect);

    // One that is new and comes first in the list takes nobody's.
    client.run(session, "run: mkdir outputs/a && cp outputs/b/package.json outputs/a").await;
    let expect = [place("outputs/a", 3002), expect[0].clone(), expect[1].clone()];
    assert_eq!(places().await, expect);
    let all = artifacts(&client, session).await;
    let id = all.iter().find(|it| it["path"] == "outputs/c").expect("it")["id"].as_str().expect("an id");
    let (host, cookie) = enter(&server, session, id).await;
    assert!(host.starts_with("3001-"), "{host}");
    assert_eq!(until_it_answers(&server, &host, &cookie).await.body, json!("it works"));
    assert_eq!(places().await, expect);
    let stop = format!("/api/sessions/{session}/sandbox/stop");
    client.post(&stop, &json!({})).await.expect(StatusCode::NO_CONTENT);
    assert_eq!(places().await, expect);
}

#[tokio::test]
async fn what_is_no_regular_file_is_no_artifact_and_many_files_hide_none() {
    let server = TestServer::start().await;
    let client = server.admin();
    let session = client.session_create().await;
    let made = "run: mkdir -p a outputs/data && cd outputs && printf x > ../a/b.txt && ln -s ../a/b.txt in.txt && \
        mkfifo pipe.md && for n in $(seq 5200); do : > data/$n.bin; done && printf '# Hi' > report.md";
    client.run(session, made).await;
    let found = found(&client, session).await;
    assert_eq!(found["path"], "outputs/report.md");
    assert_eq!(artifacts(&client, session).await.len(), 1);
}
