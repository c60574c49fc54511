//! A provider that does what a test tells it, byte by byte.

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
};

pub(crate) struct Provider {
    listener: TcpListener,
}

/// A call that reached the provider.
pub(crate) struct Received {
    stream: TcpStream,
    /// Everything the gateway sent: first line, headers, body.
    pub(crate) text: String,
}

const EVENTS: &str = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\
    request-id: req_1\r\nset-cookie: a=b\r\nanthropic-organization-id: org\r\n\r\n";

impl Provider {
    pub(crate) async fn start() -> Self {
        Self { listener: TcpListener::bind("127.0.0.1:0").await.expect("a port") }
    }

    pub(crate) fn base_url(&self) -> String {
        format!("http://{}", self.listener.local_addr().expect("an address"))
    }

    /// Whether nobody connected that was not received: connections are accepted in their order, and the next is the test's.
    pub(crate) async fn received_nothing(&self) -> bool {
        let own =
            TcpStream::connect(self.listener.local_addr().expect("an address")).await.expect("connected");
        let (_, next) = self.listener.accept().await.expect("a connection");
        own.local_addr().expect("an address") == next
    }

    /// The next call, read whole.
    pub(crate) async fn receive(&self) -> Received {
        let (mut stream, _) = self.listener.accept().await.expect("a connection");
        let mut bytes = Vec::new();
        loop {
            stream.read_buf(&mut bytes).await.expect("a request");
            let text = String::from_utf8_lossy(&bytes);
            let Some((head, body)) = text.split_once("\r\n\r\n") else { continue };
            let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
            if body.len() >= length.expect("a length").parse::<usize>().expect("a number") {
                let text = text.into_owned();
                return Received { stream, text };
            }
        }
    }
}

impl Received {
    /// Begins a streamed answer.
    pub(crate) async fn begin_events(&mut self) {
        self.send(EVENTS.as_bytes()).await;
    }

    /// One chunk of a streamed answer.
    pub(crate) async fn chunk(&mut self, piece: &[u8]) {
        self.send(format!("{:x}\r\n", piece.len()).as_bytes()).await;
        self.send(piece).await;
        self.send(b"\r\n").await;
    }

    pub(crate) async fn end_events(&mut self) {
        self.send(b"0\r\n\r\n").await;
    }

    /// An answer that is not streamed.
    pub(crate) async fn answer(&mut self, status_line: &str, headers: &str, body: &str) {
        let length = body.len();
        let head = format!("HTTP/1.1 {status_line}\r\ncontent-length: {length}\r\n{headers}\r\n");
        self.send(head.as_bytes()).await;
        self.send(body.as_bytes()).await;
    }

    /// Returns when the gateway has closed the connection.
    pub(crate) async fn closed(&mut self) {
        let mut rest = Vec::new();
        // A reset is as good as an end.
        let _ = self.stream.read_to_end(&mut rest).await;
        assert_eq!(rest, b"");
    }

    pub(crate) async fn send(&mut self, bytes: &[u8]) {
        self.stream.write_all(bytes).await.expect("the gateway reads");
        self.stream.flush().await.expect("the gateway reads");
    }
}
