//! A stand-in for the model's provider that answers from a script.

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::{TcpListener, TcpStream},
    path::PathBuf,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::Duration,
};

use serde_json::{Value, json};

/// A scripted model on a free port.
pub(crate) struct Model {
    pub(crate) url: String,
    state: Arc<State>,
}

/// Answers a request by what is in it.
type Mind = Box<dyn Fn(&Value) -> Reply + Send + Sync>;

#[derive(Default)]
struct State {
    steps: Mutex<Vec<Step>>,
    /// Answers what no step is for.
    mind: Option<Mind>,
    requests: Mutex<Vec<Value>>,
    problems: Mutex<Vec<String>>,
    is_over: AtomicBool,
}

/// An answer, and the question it is for.
pub(crate) struct Step {
    /// What the last message of the request must contain.
    asked: String,
    reply: Reply,
}

pub(crate) enum Reply {
    /// These events, then the end of the stream.
    Events(Vec<Value>),
    /// These events, then nothing until the client goes away.
    Hang(Vec<Value>),
    /// These events, then the rest of them once there is a file at `gate`.
    Gate { events: Vec<Value>, gate: PathBuf, rest: Vec<Value> },
    /// These events, then the connection is lost.
    Drop(Vec<Value>),
    /// No answer.
    Refusal { status: u16, headers: &'static str, body: Value },
}

/// Writes an answer's events.
pub(crate) struct Answer {
    events: Vec<Value>,
    n_blocks: usize,
    stop_reason: &'static str,
}

impl Model {
    pub(crate) fn start(steps: impl IntoIterator<Item = Step>) -> Self {
        Self::serve(State { steps: Mutex::new(steps.into_iter().collect()), ..State::default() })
    }

    /// A model that answers every request by what is in it.
    pub(crate) fn thinking(mind: impl Fn(&Value) -> Reply + Send + Sync + 'static) -> Self {
        Self::serve(State { mind: Some(Box::new(mind)), ..State::default() })
    }

    fn serve(state: State) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let url = format!("http://{}", listener.local_addr().expect("an address"));
        let state = Arc::new(state);
        let shared = Arc::clone(&state);
        thread::spawn(move || {
            for stream in listener.incoming() {
                if shared.is_over.load(Ordering::SeqCst) {
                    return;
                }
                let shared = Arc::clone(&shared);
                thread::spawn(move || shared.serve(stream.expect("a connection")));
            }
        });
        Self { url, state }
    }

    /// The bodies of all requests so far.
    pub(crate) fn requests(&self) -> Vec<Value> {
        self.state.requests.lock().expect("not poisoned").clone()
    }

    /// The messages of the n-th request, without cache marks.
    pub(crate) fn messages(&self, n: usize) -> Value {
        let mut messages = self.requests()[n]["messages"].clone();
        for message in messages.as_array_mut().expect("a list") {
            for content in message["content"].as_array_mut().expect("a list") {
                content.as_object_mut().expect("an object").remove("cache_control");
            }
        }
        messages
    }

    /// Fails if an answer was never asked for.
    pub(crate) fn assert_done(&self) {
        let left: Vec<String> =
            self.state.steps.lock().expect("not poisoned").iter().map(|step| step.asked.clone()).collect();
        assert_eq!(left, Vec::<String>::new(), "answers that nobody asked for");
    }

    /// Fails if a request was one that the real API refuses, or not in the script.
    fn assert_valid(&self) {
        let problems = self.state.problems.lock().expect("not poisoned").clone();
        assert_eq!(problems, Vec::<String>::new(), "requests that should not have come");
    }
}

impl Drop for Model {
    fn drop(&mut self) {
        if !thread::panicking() {
            self.assert_valid();
        }
        self.state.is_over.store(true, Ordering::SeqCst);
        // Wakes the accepting thread; if it is gone already, so much the better.
        let _ = TcpStream::connect(self.url.trim_start_matches("http://"));
    }
}

impl State {
    fn serve(&self, mut stream: TcpStream) {
        let Some(body) = read_request(&stream) else { return };
        let last = body["messages"].as_array().and_then(|all| all.last()).cloned().unwrap_or_default();
        if let Err(problem) = check_messages(&body["messages"]) {
            self.problems.lock().expect("not poisoned").push(format!("{problem}: {}", body["messages"]));
        }
        self.requests.lock().expect("not poisoned").push(body.clone());
        let reply = {
            let mut steps = self.steps.lock().expect("not poisoned");
            let found = steps.iter().position(|step| last.to_string().contains(&step.asked));
            found.map(|place| steps.remove(place).reply)
        };
        let reply = reply.or_else(|| self.mind.as_ref().map(|mind| mind(&body)));
        let Some(reply) = reply else {
            self.problems.lock().expect("not poisoned").push(last.to_string());
            return respond_error(&mut stream, 400, "", &json!({"error": {"message": "not in the script"}}));
        };
        match reply {
            Reply::Refusal { status, headers, body } => respond_error(&mut stream, status, headers, &body),
            Reply::Events(events) => {
                begin_events(&mut stream);
                write_events(&mut stream, &events);
                end_events(&mut stream);
            }
            Reply::Gate { events, gate, rest } => {
                begin_events(&mut stream);
                write_events(&mut stream, &events);
                while !gate.exists() && !self.is_over.load(Ordering::SeqCst) {
                    thread::sleep(Duration::from_millis(2));
                }
                write_events(&mut stream, &rest);
                end_events(&mut stream);
            }
            Reply::Drop(events) => {
                begin_events(&mut stream);
                write_events(&mut stream, &events);
            }
            Reply::Hang(events) => {
                begin_events(&mut stream);
                write_events(&mut stream, &events);
                // Ends with the client, whichever way it goes.
                let _ = stream.read(&mut [0]);
            }
        }
    }
}

/// What the real API demands of messages.
fn check_messages(messages: &Value) -> Result<(), &'static str> {
    let mut open: Vec<&str> = Vec::new();
    for (n, message) in messages.as_array().ok_or("messages are no list")?.iter().enumerate() {
        let role = if n % 2 == 0 { "user" } else { "assistant" };
        if message["role"] != role {
            return Err("roles do not alternate");
        }
        let content =
            message["content"].as_array().filter(|all| !all.is_empty()).ok_or("nothing in a message")?;
        if content
            .iter()
            .any(|it| it["type"] == "text" && it["text"].as_str().is_none_or(|text| text.trim().is_empty()))
        {
            return Err("an empty text");
        }
        if content.last().is_some_and(|it| it["type"] == "thinking") {
            return Err("an answer ends with a thought");
        }
        let ids = |kind: &str, key: &str| -> Vec<&str> {
            content.iter().filter(|it| it["type"] == kind).filter_map(|it| it[key].as_str()).collect()
        };
        if ids("tool_result", "tool_use_id") != open {
            return Err("calls and results do not match");
        }
        open = ids("tool_use", "id");
    }
    if open.is_empty() { Ok(()) } else { Err("a call without a result") }
}

fn read_request(stream: &TcpStream) -> Option<Value> {
    let mut reader = BufReader::new(stream);
    let mut length = 0;
    let mut line = String::new();
    reader.read_line(&mut line).ok().filter(|n_bytes| *n_bytes > 0)?;
    assert_eq!(line, "POST /v1/messages HTTP/1.1\r\n");
    loop {
        line.clear();
        reader.read_line(&mut line).ok()?;
        let header = line.to_ascii_lowercase();
        if let Some(value) = header.strip_prefix("content-length: ") {
            length = value.trim().parse().expect("a number");
        }
        if let Some(key) = header.strip_prefix("x-api-key: ") {
            assert_eq!(key.trim(), "placeholder");
        }
        if line == "\r\n" {
            break;
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    Some(serde_json::from_slice(&body).expect("a request is JSON"))
}

fn respond_error(stream: &mut TcpStream, status: u16, headers: &str, body: &Value) {
    let body = body.to_string();
    let head = format!("HTTP/1.1 {status} Sorry\r\ncontent-length: {}\r\n{headers}\r\n", body.len());
    // A client that went away needs no answer.
    let _ = stream.write_all((head + &body).as_bytes());
}

// Whether the client is still there is for the client to say: below, it may have gone at any moment.

fn begin_events(stream: &mut TcpStream) {
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";
    let _ = stream.write_all(head.as_bytes());
}

fn end_events(stream: &mut TcpStream) {
    let _ = stream.write_all(b"0\r\n\r\n");
}

fn write_events(stream: &mut TcpStream, events: &[Value]) {
    for event in events {
        let name = event["type"].as_str().expect("a type");
        let text = format!("event: {name}\ndata: {event}\n\n");
        let _ = stream.write_all(format!("{:x}\r\n{text}\r\n", text.len()).as_bytes());
    }
}

impl Step {
    /// For a request whose last message contains `asked`.
    pub(crate) fn to(asked: &str, reply: impl Into<Reply>) -> Self {
        Self { asked: asked.to_owned(), reply: reply.into() }
    }
}

impl From<Answer> for Reply {
    fn from(answer: Answer) -> Self {
        Reply::Events(answer.whole())
    }
}

impl Reply {
    pub(crate) fn refusal(status: u16, kind: &str, message: &str) -> Self {
        let body = json!({"type": "error", "error": {"type": kind, "message": message}});
        Reply::Refusal { status, headers: "retry-after: 0\r\n", body }
    }
}

impl Answer {
    pub(crate) fn new(id: &str) -> Self {
        let message = json!({"id": id, "type": "message", "role": "assistant", "model": "scripted-1", "content": [],
            "usage": {"input_tokens": 10, "output_tokens": 1, "cache_read_input_tokens": 5}});
        let events = vec![json!({"type": "message_start", "message": message}), json!({"type": "ping"})];
        Self { events, n_blocks: 0, stop_reason: "end_turn" }
    }

    /// The request was so many tokens long.
    pub(crate) fn measured(mut self, tokens: usize) -> Self {
        self.events[0]["message"]["usage"]["input_tokens"] = json!(tokens);
        self
    }

    pub(crate) fn thinking(self, thinking: &str) -> Self {
        let block = json!({"type": "thinking", "thinking": "", "signature": ""});
        let signature = json!({"type": "signature_delta", "signature": format!("sig-{thinking}")});
        let mut deltas = halves(thinking, |half| json!({"type": "thinking_delta", "thinking": half}));
        deltas.push(signature);
        self.block(block, deltas)
    }

    pub(crate) fn text(self, text: &str) -> Self {
        let deltas = halves(text, |half| json!({"type": "text_delta", "text": half}));
        self.block(json!({"type": "text", "text": ""}), deltas)
    }

    pub(crate) fn call(mut self, id: &str, name: &str, input: &Value) -> Self {
        self.stop_reason = "tool_use";
        self.call_raw(id, name, &input.to_string())
    }

    /// A call whose input is whatever it is.
    pub(crate) fn call_raw(self, id: &str, name: &str, input: &str) -> Self {
        let deltas = halves(input, |half| json!({"type": "input_json_delta", "partial_json": half}));
        self.block(json!({"type": "tool_use", "id": id, "name": name, "input": {}}), deltas)
    }

    pub(crate) fn block(mut self, block: Value, deltas: Vec<Value>) -> Self {
        let index = self.n_blocks;
        self.n_blocks += 1;
        self.events.push(json!({"type": "content_block_start", "index": index, "content_block": block}));
        let deltas = deltas.into_iter();
        self.events.extend(
            deltas.map(|delta| json!({"type": "content_block_delta", "index": index, "delta": delta})),
        );
        self.events.push(json!({"type": "content_block_stop", "index": index}));
        self
    }

    pub(crate) fn stop(mut self, reason: &'static str) -> Self {
        self.stop_reason = reason;
        self
    }

    /// All but the last `n` events so far, to break off in the middle.
    pub(crate) fn without_last(mut self, n: usize) -> Vec<Value> {
        self.events.truncate(self.events.len() - n);
        self.events
    }

    pub(crate) fn whole(self) -> Vec<Value> {
        let mut events = self.events;
        events.push(json!({"type": "message_delta", "delta": {"stop_reason": self.stop_reason},
            "usage": {"output_tokens": 20}}));
        events.push(json!({"type": "message_stop"}));
        events
    }
}

fn halves(text: &str, delta: impl Fn(&str) -> Value) -> Vec<Value> {
    let (first, second) = text.split_at(text.floor_char_boundary(text.len() / 2));
    vec![delta(first), delta(second)]
}
