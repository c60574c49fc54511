//! A model provider that wants a key, lists its models, and answers as the demo model does.

use std::sync::{
    Arc, Mutex, PoisonError,
    atomic::{AtomicUsize, Ordering},
};

use serde_json::json;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpStream},
};
use warren_env::{TaskKind, Tasks};

/// A provider on this machine that speaks Anthropic's language, and takes its key as OpenAI does too.
pub struct TestProvider {
    /// Where its API begins.
    pub url: String,
    state: Arc<State>,
    tasks: Tasks,
}

struct State {
    key: Mutex<String>,
    /// Where the demo model listens.
    demo: String,
    n_answered: AtomicUsize,
    n_refused: AtomicUsize,
    n_listed: AtomicUsize,
}

/// The models that every such provider offers.
pub const TEST_MODELS: [&str; 3] = ["claude-test-large", "claude-test-small", "claude-embed-search"];

impl TestProvider {
    /// Starts one that knows this key.
    pub async fn start(key: &str) -> Self {
        let tasks = Tasks::new();
        let (demo, listener) = (listener().await, listener().await);
        let address = |listener: &TcpListener| listener.local_addr().expect("an address").to_string();
        let state = Arc::new(State {
            key: Mutex::new(key.to_owned()),
            demo: address(&demo),
            n_answered: AtomicUsize::new(0),
            n_refused: AtomicUsize::new(0),
            n_listed: AtomicUsize::new(0),
        });
        let url = format!("http://{}", address(&listener));
        let inner = tasks.clone();
        tasks.spawn(TaskKind::Connection, async move {
            warren_models::demo::serve(demo, warren_models::Pace::NONE, &inner).await.expect("it serves");
        });
        let (inner, shared) = (tasks.clone(), Arc::clone(&state));
        tasks.spawn(TaskKind::Connection, async move {
            loop {
                let (stream, _) = listener.accept().await.expect("a connection");
                let state = Arc::clone(&shared);
                inner.spawn(TaskKind::Connection, async move { serve(&state, stream).await });
            }
        });
        Self { url, state, tasks }
    }

    /// From now on it knows another key.
    pub fn change_key(&self, key: &str) {
        key.clone_into(&mut self.state.key.lock().unwrap_or_else(PoisonError::into_inner));
    }

    /// How many requests for a message it has answered.
    #[must_use]
    pub fn n_answered(&self) -> usize {
        self.state.n_answered.load(Ordering::SeqCst)
    }

    /// How many requests it has refused for their key.
    #[must_use]
    pub fn n_refused(&self) -> usize {
        self.state.n_refused.load(Ordering::SeqCst)
    }

    /// How often it has listed its models.
    #[must_use]
    pub fn n_listed(&self) -> usize {
        self.state.n_listed.load(Ordering::SeqCst)
    }
}

impl Drop for TestProvider {
    fn drop(&mut self) {
        self.tasks.cancel();
    }
}

async fn listener() -> TcpListener {
    TcpListener::bind("127.0.0.1:0").await.expect("a port")
}

/// One request on a connection that is not used again.
async fn serve(state: &State, mut stream: TcpStream) {
    let Some(request) = read_request(&mut stream).await else { return };
    let key = state.key.lock().unwrap_or_else(PoisonError::into_inner).clone();
    let headers = [format!("x-api-key: {key}"), format!("authorization: Bearer {key}")];
    let has_key = request.lines().any(|line| headers.iter().any(|header| line.eq_ignore_ascii_case(header)));
    let line = request.lines().next().unwrap_or_default();
    if !has_key {
        state.n_refused.fetch_add(1, Ordering::SeqCst);
        // Some providers repeat the key that they refuse.
        let said = request.lines().find(|line| line.starts_with("x-api-key: ")).unwrap_or("no key");
        let body = json!({"type": "error", "error": {"type": "authentication_error", "message": said}});
        answer(&mut stream, "401 Unauthorized", &body.to_string()).await;
    } else if line.starts_with("GET /v1/models") {
        state.n_listed.fetch_add(1, Ordering::SeqCst);
        let models =
            TEST_MODELS.map(|id| json!({"id": id, "display_name": id.to_uppercase(), "type": "model"}));
        answer(&mut stream, "200 OK", &json!({"data": models, "has_more": false}).to_string()).await;
    } else if line.starts_with("POST ") {
        state.n_answered.fetch_add(1, Ordering::SeqCst);
        let mut demo = TcpStream::connect(&state.demo).await.expect("connected");
        let request = request.replacen("\r\n", "\r\nconnection: close\r\n", 1);
        demo.write_all(request.as_bytes()).await.expect("sent");
        // The client may have left.
        let _ = tokio::io::copy(&mut demo, &mut stream).await;
    } else {
        answer(&mut stream, "404 Not Found", "{}").await;
    }
}

async fn answer(stream: &mut TcpStream, status: &str, body: &str) {
    let length = body.len();
    let text = format!(
        "HTTP/1.1 {status}\r\ncontent-type: application/json\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{body}"
    );
    // The client may have left.
    let _ = stream.write_all(text.as_bytes()).await;
}

async fn read_request(stream: &mut TcpStream) -> Option<String> {
    let mut bytes = Vec::new();
    loop {
        if stream.read_buf(&mut bytes).await.ok()? == 0 {
            return None;
        }
        let text = String::from_utf8_lossy(&bytes);
        let Some((head, body)) = text.split_once("\r\n\r\n") else { continue };
        let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
        if body.len() >= length.map_or(0, |length| length.parse().expect("a number")) {
            return Some(text.into_owned());
        }
    }
}
