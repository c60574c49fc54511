//! A scripted server: what it is asked is noted, what it answers is told by the path.

use std::{
    collections::HashMap,
    io::{BufRead, BufReader, Read, Write},
    net::{TcpListener, TcpStream},
    sync::{Arc, Mutex},
    thread,
};

/// A request as it came in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Asked {
    pub(crate) line: String,
    pub(crate) authorization: Option<String>,
    pub(crate) body: String,
}

/// What a path answers.
#[derive(Clone)]
pub(crate) enum Script {
    /// A status and a body.
    Answer(u16, String),
    /// Says that more comes than it sends.
    Torn(String),
    /// Never answers.
    Silent,
    /// Each time it is asked for, the next of these streams; the last stays open.
    Streams(Vec<Vec<String>>),
}

/// A scripted server on a free port.
#[derive(Clone)]
pub(crate) struct Server {
    pub(crate) url: String,
    state: Arc<State>,
}

struct State {
    scripts: HashMap<String, Script>,
    asked: Mutex<Vec<Asked>>,
    n_streams: Mutex<usize>,
}

impl Server {
    pub(crate) fn start(scripts: impl IntoIterator<Item = (&'static str, Script)>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let url = format!("http://{}", listener.local_addr().expect("an address"));
        let scripts = scripts.into_iter().map(|(path, script)| (path.to_owned(), script)).collect();
        let state = Arc::new(State { scripts, asked: Mutex::default(), n_streams: Mutex::default() });
        let shared = Arc::clone(&state);
        thread::spawn(move || {
            for stream in listener.incoming() {
                let shared = Arc::clone(&shared);
                // A client that goes away is no failure.
                thread::spawn(move || drop(shared.serve(stream.expect("a connection"))));
            }
        });
        Self { url, state }
    }

    pub(crate) fn asked(&self) -> Vec<Asked> {
        self.state.asked.lock().expect("not poisoned").clone()
    }
}

impl State {
    fn serve(&self, mut stream: TcpStream) -> std::io::Result<()> {
        let asked = read(&stream)?;
        let path = asked.line.split(' ').nth(1).unwrap_or_default().to_owned();
        self.asked.lock().expect("not poisoned").push(asked);
        match self.scripts.get(&path) {
            Some(Script::Answer(status, body)) => {
                write!(stream, "HTTP/1.1 {status} X\r\ncontent-length: {}\r\n\r\n{body}", body.len())
            }
            Some(Script::Torn(body)) => {
                write!(stream, "HTTP/1.1 200 X\r\ncontent-length: 1000\r\n\r\n{body}")
            }
            Some(Script::Silent) => hold(stream),
            Some(Script::Streams(streams)) => self.stream(stream, streams),
            None => write!(stream, "HTTP/1.1 404 X\r\ncontent-length: 0\r\n\r\n"),
        }
    }

    fn stream(&self, mut stream: TcpStream, streams: &[Vec<String>]) -> std::io::Result<()> {
        let n = {
            let mut n_streams = self.n_streams.lock().expect("not poisoned");
            *n_streams += 1;
            *n_streams
        };
        write!(stream, "HTTP/1.1 200 X\r\ncontent-type: text/event-stream\r\n\r\n")?;
        for event in streams.get(n - 1).into_iter().flatten() {
            write!(stream, "data: {event}\n\n")?;
        }
        stream.flush()?;
        if n < streams.len() { Ok(()) } else { hold(stream) }
    }
}

/// Keeps a connection open until the other side closes it.
fn hold(mut stream: TcpStream) -> std::io::Result<()> {
    stream.read(&mut [0]).map(drop)
}

fn read(stream: &TcpStream) -> std::io::Result<Asked> {
    let mut reader = BufReader::new(stream);
    let (mut lines, mut line) = (Vec::new(), String::new());
    while reader.read_line(&mut line)? > 2 {
        lines.push(std::mem::take(&mut line).trim_end().to_owned());
    }
    let header = |name: &str| {
        let found = lines.iter().skip(1).filter_map(|line| line.split_once(": "));
        found.into_iter().find(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value.to_owned())
    };
    let length = header("content-length").and_then(|text| text.parse().ok()).unwrap_or(0);
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    Ok(Asked {
        line: lines.first().cloned().unwrap_or_default().replace(" HTTP/1.1", ""),
        authorization: header("authorization"),
        body: String::from_utf8_lossy(&body).into_owned(),
    })
}
