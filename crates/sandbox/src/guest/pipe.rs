//! One output of a program, between the task that receives it and whoever reads it.

use std::{
    io,
    pin::Pin,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::{Context, Poll, Waker},
};

use bytes::{Buf, BytesMut};
use tokio::{
    io::{AsyncRead, ReadBuf},
    sync::Notify,
};
use warren_guest_api::EXEC_CREDIT;

/// Credit is given back in pieces, not byte by byte.
const CREDIT_STEP: u32 = EXEC_CREDIT / 4;

/// What a program writes to stdout or stderr.
///
/// Holds at most [`EXEC_CREDIT`] bytes; then the program waits. Dropping it throws away what still comes, so that the
/// program never waits for a reader that is gone.
#[derive(Debug)]
pub struct ExecOutput {
    pipe: Arc<Pipe>,
}

/// The receiving task's end.
#[derive(Debug)]
pub(super) struct Pipe {
    state: Mutex<State>,
    /// Told when there is credit to give back.
    read: Arc<Notify>,
}

#[derive(Debug, Default)]
struct State {
    buffer: BytesMut,
    /// Read, but not yet given back as credit.
    consumed: u32,
    end: End,
    reader: Option<Waker>,
    abandoned: bool,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    #[default]
    NotYet,
    /// The program closed it, or ended.
    Clean,
    /// The guest was lost.
    Lost,
}

/// The guest sent more than it had credit for, or more after the end.
#[derive(Debug)]
pub(super) struct Overrun;

/// `read` is notified whenever there is credit to give back.
pub(super) fn pipe(read: Arc<Notify>) -> (Arc<Pipe>, ExecOutput) {
    let pipe = Arc::new(Pipe { state: Mutex::default(), read });
    (pipe.clone(), ExecOutput { pipe })
}

impl Pipe {
    pub(super) fn push(&self, data: &[u8]) -> Result<(), Overrun> {
        let mut state = self.lock();
        let held = state.buffer.len() + state.consumed as usize + data.len();
        if held > EXEC_CREDIT as usize || state.end != End::NotYet {
            return Err(Overrun);
        }
        if state.abandoned {
            // As if it were read at once.
            state.consumed += data.len() as u32;
            self.read.notify_one();
        } else {
            state.buffer.extend_from_slice(data);
        }
        state.wake();
        Ok(())
    }

    pub(super) fn end(&self, end: End) {
        let mut state = self.lock();
        if state.end == End::NotYet {
            state.end = end;
        }
        state.wake();
    }

    /// Takes credit to be given back, if it is worth a frame.
    pub(super) fn take_credit(&self) -> Option<u32> {
        let mut state = self.lock();
        (state.consumed >= CREDIT_STEP).then(|| std::mem::take(&mut state.consumed))
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn wake(&mut self) {
        if let Some(waker) = self.reader.take() {
            waker.wake();
        }
    }
}

impl AsyncRead for ExecOutput {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, out: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let mut state = self.pipe.lock();
        let n = out.remaining().min(state.buffer.len());
        if n == 0 && out.remaining() > 0 {
            return match state.end {
                End::Clean => Poll::Ready(Ok(())),
                End::Lost => Poll::Ready(Err(io::ErrorKind::ConnectionReset.into())),
                End::NotYet => {
                    state.reader = Some(cx.waker().clone());
                    Poll::Pending
                }
            };
        }
        out.put_slice(&state.buffer[..n]);
        state.buffer.advance(n);
        state.consumed += n as u32;
        if state.consumed >= CREDIT_STEP {
            self.pipe.read.notify_one();
        }
        Poll::Ready(Ok(()))
    }
}

impl Drop for ExecOutput {
    fn drop(&mut self) {
        let mut state = self.pipe.lock();
        state.abandoned = true;
        state.consumed += state.buffer.len() as u32;
        state.buffer = BytesMut::new();
        self.pipe.read.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use std::{io::ErrorKind, sync::Arc};

    use tokio::{io::AsyncReadExt, sync::Notify};
    use warren_guest_api::EXEC_CREDIT;

    use super::{End, pipe};

    #[tokio::test]
    async fn what_is_read_comes_back_as_credit() {
        let (pipe, mut output) = pipe(Arc::new(Notify::new()));
        let data = vec![1; EXEC_CREDIT as usize];
        pipe.push(&data).expect("within credit");
        pipe.push(b"x").expect_err("beyond credit");
        assert_eq!(pipe.take_credit(), None);
        let mut read = vec![0; data.len()];
        output.read_exact(&mut read).await.expect("reads");
        assert_eq!((read, pipe.take_credit()), (data, Some(EXEC_CREDIT)));
    }

    #[tokio::test]
    async fn an_output_nobody_wants_gives_its_credit_back() {
        let (pipe, output) = pipe(Arc::new(Notify::new()));
        pipe.push(&vec![1; EXEC_CREDIT as usize]).expect("within credit");
        drop(output);
        assert_eq!(pipe.take_credit(), Some(EXEC_CREDIT));
        pipe.push(&vec![1; EXEC_CREDIT as usize]).expect("within credit");
        assert_eq!(pipe.take_credit(), Some(EXEC_CREDIT));
    }

    #[tokio::test]
    async fn a_lost_guest_is_an_error_after_what_did_arrive() {
        let (pipe, mut output) = pipe(Arc::new(Notify::new()));
        pipe.push(b"half").expect("within credit");
        pipe.end(End::Lost);
        let mut read = Vec::new();
        let end = output.read_to_end(&mut read).await.map_err(|e| e.kind());
        assert_eq!((end, &read[..]), (Err(ErrorKind::ConnectionReset), &b"half"[..]));
    }
}
