//! The server's events, for as long as there is a server.

use std::{rc::Rc, time::Duration};

use http_body_util::BodyExt;
use hyper::Method;
use tokio::{
    sync::mpsc,
    time::{sleep, timeout},
};

use super::call::Server;
use crate::http::Splitter;

/// A server that says nothing for this long, not even that it is alive, is not connected to us any more.
const SILENCE: Duration = Duration::from_secs(120);

/// How long to wait before the stream is opened again: first, and at most.
const FIRST_PAUSE: Duration = Duration::from_millis(50);
const LONGEST_PAUSE: Duration = Duration::from_secs(2);

/// What the stream of events has to tell.
pub(super) enum Told {
    /// It is open. Events before the first time cannot be missed: nobody has asked for anything.
    Opened,
    /// The data of an event.
    Event(Vec<u8>),
}

/// Follows the stream, and opens it again when it breaks, until nobody listens.
pub(super) async fn follow(server: Rc<Server>, path: String, told: mpsc::Sender<Told>) {
    let mut pause = FIRST_PAUSE;
    loop {
        match read(&server, &path, &told).await {
            Read::Opened => pause = FIRST_PAUSE,
            Read::Refused => pause = LONGEST_PAUSE.min(pause * 2),
            Read::Unheard => return,
        }
        sleep(pause).await;
    }
}

/// How reading the stream once ended.
enum Read {
    Opened,
    Refused,
    /// Nobody listens any more.
    Unheard,
}

async fn read(server: &Server, path: &str, told: &mpsc::Sender<Told>) -> Read {
    let Ok((mut connection, response)) = server.call(Method::GET, path, Vec::new(), SILENCE).await else {
        return Read::Refused;
    };
    if !response.status().is_success() {
        return Read::Refused;
    }
    if told.send(Told::Opened).await.is_err() {
        return Read::Unheard;
    }
    let (mut body, mut events) = (response.into_body(), Splitter::default());
    while let Ok(Some(Ok(frame))) = connection.drive(timeout(SILENCE, body.frame())).await {
        // An event that is too long cannot be had: opening the stream again tells whoever listens to look for itself.
        if frame.data_ref().is_some_and(|bytes| events.push(bytes).is_err()) {
            break;
        }
        while let Some(event) = events.next() {
            if told.send(Told::Event(event)).await.is_err() {
                return Read::Unheard;
            }
        }
    }
    Read::Opened
}
