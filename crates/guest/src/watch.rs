//! Watches trees and tells what changed.

mod changes;
mod tree;

use std::{mem::MaybeUninit, os::fd::OwnedFd, time::Duration};

use rustix::{
    fs::inotify::{self, CreateFlags, ReadFlags},
    io::Errno,
};
use tokio::{
    io::{AsyncReadExt, unix::AsyncFd},
    time::{Instant, sleep_until},
};
use warren_guest_api::{ErrorCode, Frame, GuestError, WatchEvent, WatchRequest, write_frame};
use warren_link::Stream;

use crate::{
    failure::{Failure, file_error},
    files::Roots,
    serve::reply,
    sys,
};

use changes::Changes;
use tree::Tree;

/// Changes are told after this much quiet, but never later than that much after the first.
const QUIET: Duration = Duration::from_millis(75);
const AT_LATEST: Duration = Duration::from_millis(400);

/// Room for a few hundred events at a time.
const BUFFER: usize = 32 * 1024;

/// Changes in one frame.
const BATCH: usize = 40;

/// Watches until the host ends the stream.
pub(crate) async fn watch(roots: &Roots, request: WatchRequest, stream: &mut Stream) -> Result<(), Failure> {
    if request.roots.is_empty() {
        return Err(GuestError::new(ErrorCode::InvalidRequest, "there is nothing to watch").into());
    }
    let mut watcher = Watcher::start(roots, request).await?;
    reply(stream, &()).await?;
    watcher.run(stream).await
}

struct Watcher<'a> {
    events: AsyncFd<OwnedFd>,
    tree: Tree<'a>,
    changes: Changes,
    /// Since when there is something to tell.
    first_at: Option<Instant>,
    /// What made us miss changes, if anything did.
    overflow: Option<String>,
}

impl<'a> Watcher<'a> {
    async fn start(roots: &'a Roots, request: WatchRequest) -> Result<Self, GuestError> {
        let inotify = inotify::init(CreateFlags::NONBLOCK | CreateFlags::CLOEXEC);
        let inotify = inotify.map_err(|errno| file_error("watch", errno))?;
        let events = sys::register(inotify);
        let events = events.map_err(|error| GuestError::new(ErrorCode::Exhausted, error.to_string()))?;
        let mut tree = Tree::new(roots, request);
        let overflow = tree.scan_roots(events.get_ref()).await;
        Ok(Self { events, tree, changes: Changes::default(), first_at: None, overflow })
    }

    async fn run(&mut self, stream: &mut Stream) -> Result<(), Failure> {
        let mut nothing = [0; 1];
        loop {
            if let Some(reason) = self.overflow.take() {
                tell(stream, &WatchEvent::Overflow { reason }).await?;
            }
            let due = self.first_at.map(|first| (Instant::now() + QUIET).min(first + AT_LATEST));
            tokio::select! {
                // The host has nothing to say on this stream: a byte, an end or an error all mean the same.
                _ = stream.read(&mut nothing) => return Ok(()),
                ready = self.events.readable() => {
                    ready.map_err(|_| Failure::Gone)?.clear_ready();
                    self.take_events().await;
                }
                () = sleep_until(due.unwrap_or_else(Instant::now)), if due.is_some() => self.flush(stream).await?,
            }
        }
    }

    /// Takes all events there are. Readiness was cleared before, so what comes later wakes us again.
    async fn take_events(&mut self) {
        let mut buffer = [const { MaybeUninit::uninit() }; BUFFER];
        loop {
            let mut lost = false;
            let mut new_directories = Vec::new();
            let inotify = self.events.get_ref();
            let mut reader = inotify::Reader::new(inotify, &mut buffer);
            // One buffer full at a time, so that others get their turn.
            let end = loop {
                match reader.next() {
                    Ok(event) if event.events().contains(ReadFlags::QUEUE_OVERFLOW) => lost = true,
                    Ok(event) => {
                        let name = event.file_name().map(|name| name.to_bytes());
                        let (watch, events) = (event.wd(), event.events());
                        let new = self.tree.on_event(inotify, watch, events, name, &mut self.changes);
                        new_directories.extend(new);
                    }
                    Err(Errno::INTR) => continue,
                    // `WOULDBLOCK`: nothing more. Any other error would come back when it matters.
                    Err(_) => break true,
                }
                if reader.is_buffer_empty() {
                    break false;
                }
            };
            for directory in new_directories {
                let full = self.tree.scan_new(inotify, directory, &mut self.changes).await;
                self.overflow = self.overflow.take().or(full);
            }
            if lost || self.changes.too_many() {
                self.start_over().await;
            }
            if !self.changes.is_empty() {
                self.first_at.get_or_insert_with(Instant::now);
            }
            if end {
                return;
            }
            tokio::task::yield_now().await;
        }
    }

    /// Forgets what was collected and looks at everything anew.
    async fn start_over(&mut self) {
        self.changes = Changes::default();
        self.first_at = None;
        let full = self.tree.scan_roots(self.events.get_ref()).await;
        self.overflow = Some(full.unwrap_or_else(|| "too many changes at a time".to_owned()));
    }

    async fn flush(&mut self, stream: &mut Stream) -> Result<(), Failure> {
        self.first_at = None;
        let changes = self.tree.settle(std::mem::take(&mut self.changes)).await;
        for batch in changes.chunks(BATCH) {
            tell(stream, &WatchEvent::Changes { changes: batch.to_vec() }).await?;
        }
        Ok(())
    }
}

async fn tell(stream: &mut Stream, event: &WatchEvent) -> Result<(), Failure> {
    Ok(write_frame(stream, &Frame::reply(event)?).await?)
}
