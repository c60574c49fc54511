//! Lines in and lines out.

use std::io;

use tokio::{
    io::{AsyncRead, AsyncReadExt, AsyncWriteExt, Stdout},
    sync::mpsc,
};

/// No request is near this long, with all the pictures a person may send.
const MAX_LINE: usize = 64 * 1024 * 1024;

/// Sends each line of a stream, without its end, until the stream ends. What of a line is too long is left out.
pub(super) async fn read_lines(mut stream: impl AsyncRead + Unpin, lines: mpsc::Sender<Vec<u8>>) {
    let mut buffer = vec![0; 64 * 1024];
    let mut line = Vec::new();
    while let Ok(n_read @ 1..) = stream.read(&mut buffer).await {
        let mut pieces = buffer[..n_read].split(|byte| *byte == b'\n').peekable();
        while let Some(piece) = pieces.next() {
            let room = MAX_LINE.saturating_sub(line.len());
            line.extend_from_slice(&piece[..piece.len().min(room)]);
            if pieces.peek().is_some() && lines.send(std::mem::take(&mut line)).await.is_err() {
                return;
            }
        }
    }
    if !line.is_empty() {
        // Whoever read them is gone: nothing is lost that anybody waits for.
        let _ = lines.send(line).await;
    }
}

/// Writes lines to stdout, each at once.
pub(super) struct Writer(Stdout);

impl Writer {
    pub(super) fn new() -> Self {
        Self(tokio::io::stdout())
    }

    /// Writes one line. Line ends within become spaces, which is what they mean in JSON.
    pub(super) async fn line(&mut self, mut line: Vec<u8>) -> io::Result<()> {
        for byte in line.iter_mut().filter(|byte| matches!(byte, b'\n' | b'\r')) {
            *byte = b' ';
        }
        line.push(b'\n');
        self.0.write_all(&line).await?;
        self.0.flush().await
    }
}
