//! Takes the host's requests, each a stream of its own, until the link ends.

use std::{pin::pin, rc::Rc};

use rustix::process::{getpid, getuid};
use serde::Serialize;
use tokio::{
    io::AsyncWriteExt,
    net::UnixStream,
    signal::unix::{Signal, SignalKind, signal},
    sync::Notify,
    task::{JoinSet, LocalSet},
};
use warren_guest_api::{ErrorCode, Frame, GuestError, Hello, PROTOCOL_VERSION, Request, write_frame};
use warren_link::{Opener, Options, Role, Stream, start};

use crate::{
    exec::{self, Spawner},
    failure::Failure,
    files::{self, Roots},
    listening, ports,
    tree::{self, Verb},
    watch,
};

/// What every request may need.
pub(crate) struct Guest {
    pub(crate) spawner: Spawner,
    pub(crate) roots: Roots,
    pub(crate) opener: Opener,
    shutdown: Notify,
}

/// Serves one host. Returns when the link has ended.
pub(crate) async fn serve(io: UnixStream, spawner: Spawner, roots: Roots) -> std::io::Result<()> {
    let children = signal(SignalKind::child())?;
    LocalSet::new().run_until(serve_local(io, spawner, roots, children)).await;
    Ok(())
}

async fn serve_local(io: UnixStream, spawner: Spawner, roots: Roots, mut children: Signal) {
    let (opener, mut incoming, driver) = start(io, Role::Server, Options::default());
    let guest = Rc::new(Guest { spawner, roots, opener, shutdown: Notify::new() });
    let mut driver = pin!(driver);
    let mut requests = JoinSet::new();
    loop {
        // Every head is cancel-safe; all work happens in the arms.
        tokio::select! {
            // How it ended makes no difference: without a host there is nothing to do.
            _ = &mut driver => break,
            () = guest.shutdown.notified() => guest.opener.close().await,
            _ = children.recv() => guest.spawner.reaper.reap(),
            Some((header, stream)) = incoming.next() => {
                requests.spawn_local(answer(guest.clone(), header, stream));
            }
            Some(_) = requests.join_next() => {}
        }
    }
    guest.spawner.reaper.kill_all();
}

/// Carries out one request. What fails is told, if there is anybody to tell.
async fn answer(guest: Rc<Guest>, header: bytes::Bytes, mut stream: Stream) {
    let result = match serde_json::from_slice(&header) {
        Ok(request) => dispatch(&guest, request, &mut stream).await,
        Err(error) => Err(GuestError::new(ErrorCode::InvalidRequest, error.to_string()).into()),
    };
    if let Err(Failure::Tell(error)) = result {
        // The host may have left meanwhile.
        _ = write_frame(&mut stream, &Frame::Error(error)).await;
    }
    // Likewise.
    _ = stream.shutdown().await;
}

async fn dispatch(guest: &Rc<Guest>, request: Request, stream: &mut Stream) -> Result<(), Failure> {
    match request {
        Request::Hello => reply(stream, &hello(guest)).await,
        Request::Ping => reply(stream, &()).await,
        Request::Exec(request) => exec::exec(&guest.spawner, request, stream).await,
        Request::Read(request) => files::read(&guest.roots, &request, stream).await,
        Request::Write(request) => files::write(&guest.roots, &request, stream).await,
        Request::List(request) => files::list(&guest.roots, &request, stream).await,
        Request::Stat { path } => reply(stream, &files::stat(&guest.roots, &path)?).await,
        Request::Remove { path, recursive: false, expected } => {
            files::remove(&guest.roots, &path, expected)?;
            reply(stream, &()).await
        }
        Request::Remove { path, recursive: true, expected } => {
            files::remove_all(&guest.roots, &path, expected).await?;
            reply(stream, &()).await
        }
        Request::Move(request) => reply(stream, &files::relocate(&guest.roots, &request)?).await,
        Request::Mkdir { path } => reply(stream, &files::mkdir(&guest.roots, &path)?).await,
        Request::Watch(request) => watch::watch(&guest.roots, request, stream).await,
        Request::Listen { name, port } => ports::listen(&guest.opener, name, port, stream).await,
        Request::Connect { port } => ports::connect(port, stream).await,
        Request::ScanTree => tree::serve(&guest.spawner, &guest.roots, Verb::Scan, stream).await,
        Request::WriteTree => tree::serve(&guest.spawner, &guest.roots, Verb::Write, stream).await,
        Request::Ports { ignore } => listening::watch(&ignore, &guest.spawner.reaper, stream).await,
        Request::Shutdown => {
            let replied = reply(stream, &()).await;
            guest.shutdown.notify_one();
            replied
        }
    }
}

/// The one reply of a request.
pub(crate) async fn reply(stream: &mut Stream, value: &impl Serialize) -> Result<(), Failure> {
    Ok(write_frame(stream, &Frame::reply(value)?).await?)
}

fn hello(guest: &Guest) -> Hello {
    Hello {
        protocol: PROTOCOL_VERSION,
        version: env!("CARGO_PKG_VERSION").to_owned(),
        pid: getpid().as_raw_nonzero().get().unsigned_abs(),
        uid: getuid().as_raw(),
        landlock: guest.spawner.confinement.report,
        cgroups: u32::try_from(guest.spawner.cgroups.len()).unwrap_or(u32::MAX),
    }
}
