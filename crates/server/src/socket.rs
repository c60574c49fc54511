//! Socket.IO: the same log as everywhere else, for clients that speak it.
//!
//! The edge stands before it as before every route. Who may connect and join is decided by `admit`, with the gateway's
//! own functions; what is sent is what [`warren_wire::socket_messages`] makes of an entry.

mod admit;
mod deliver;
mod follow;
mod member;
mod news;
mod reply;

use std::{sync::Arc, time::Duration};

use serde_json::{Value, json};
use socketioxide::{
    SocketIo,
    extract::{Event, Extension, SocketRef, TryData},
    handler::ConnectHandler,
    layer::SocketIoLayer,
};
use warren_domain::ErrorCode;
use warren_env::TaskKind;
use warren_wire::{SOCKET_PATH, SocketAuth, SocketSession};

use self::{member::Member, reply::Reply};
use crate::{
    deps::App,
    failure::{Failure, Told},
};

/// Timeout for the token; after that the client is disconnected.
const CONNECT_PATIENCE: Duration = Duration::from_secs(10);
/// Messages that may wait for one client. When full, its follower waits, and reads the log again when there is room.
const WAITING: usize = 64;
/// The longest message a client may send: they only name sessions.
const LONGEST: u64 = 64 * 1024;

/// The layer that answers under [`SOCKET_PATH`].
pub(crate) fn layer(app: &App) -> SocketIoLayer {
    let longest = usize::try_from(LONGEST).unwrap_or(usize::MAX);
    let (layer, io) = SocketIo::builder()
        .req_path(SOCKET_PATH)
        .connect_timeout(CONNECT_PATIENCE)
        .max_buffer_size(WAITING)
        .max_payload(LONGEST)
        .ws_max_message_size(longest)
        .ws_max_frame_size(longest)
        .build_layer();
    let app_at_door = app.clone();
    let door = move |socket: SocketRef, TryData(auth): TryData<Option<SocketAuth>>| {
        let app = app_at_door.clone();
        async move { admit::connect(app, &socket, auth.unwrap_or_default().unwrap_or_default()).await }
    };
    let welcome = async |socket: SocketRef, Extension(member): Extension<Arc<Member>>| {
        greet(&socket, &member);
    };
    io.ns("/", welcome.with(door));
    let cancel = app.deps.tasks.token();
    // Clients see that the connection is lost, and come back to whoever answers then.
    app.deps.tasks.spawn_to_end(TaskKind::Connection, async move {
        cancel.cancelled().await;
        io.close().await;
    });
    layer
}

/// Says what the client may say, and tells it the news from now on.
fn greet(socket: &SocketRef, member: &Arc<Member>) {
    socket.on("session:join", on_join);
    socket.on("session:leave", on_leave);
    socket.on("sessions:list", on_list);
    socket.on_fallback(on_unknown);
    socket.on_disconnect(async |Extension(member): Extension<Arc<Member>>| member.leave_all());
    member.spawn(news::tell(socket.clone(), Arc::clone(member)));
    member.spawn(end_with_token(socket.clone(), Arc::clone(member)));
}

/// Says that the token is not good any more, and hangs up.
async fn end_with_token(socket: SocketRef, member: Arc<Member>) {
    let failure = Failure::from(member.validity.clone().ended().await);
    tell_error(&socket, failure.code, failure.detail());
    deliver::hang_up(&socket);
    member.leave_all();
}

async fn on_join(
    socket: SocketRef,
    TryData(asked): TryData<SocketSession>,
    Extension(member): Extension<Arc<Member>>,
    reply: Reply,
) {
    let joined = match asked {
        Ok(asked) => follow::join(&member, &asked).await,
        Err(_) => Err(Failure::bad_request("`session:join` takes `{sessionId, after?}`")),
    };
    match joined {
        Ok(joined) => {
            // The client hears where the log ends before it hears anything of it.
            if reply.send(&json!({ "lastSeq": joined.head })).is_err() {
                return deliver::hang_up(&socket);
            }
            let membership = Arc::clone(&member);
            member.spawn(follow::tell(socket, membership, joined));
        }
        Err(failure) => refuse(&socket, reply, &failure),
    }
}

async fn on_leave(
    TryData(asked): TryData<SocketSession>,
    Extension(member): Extension<Arc<Member>>,
    socket: SocketRef,
    reply: Reply,
) {
    match asked {
        Ok(asked) => {
            member.leave(asked.session_id());
            acknowledge(&socket, reply, &json!({}));
        }
        Err(_) => refuse(&socket, reply, &Failure::bad_request("`session:leave` takes `{sessionId}`")),
    }
}

async fn on_list(Extension(member): Extension<Arc<Member>>, socket: SocketRef, reply: Reply) {
    match news::list(&member).await {
        Ok(sessions) => acknowledge(&socket, reply, &json!({ "sessions": sessions })),
        Err(failure) => refuse(&socket, reply, &failure),
    }
}

/// A message that there is not is a mistake of the client's: it must not wait for an answer that never comes.
async fn on_unknown(socket: SocketRef, Event(name): Event, reply: Reply) {
    let failure = Failure::bad_request(format!("there is no message `{}`", name.escape_debug()))
        .hint("use `session:join`, `session:leave` or `sessions:list`");
    refuse(&socket, reply, &failure);
}

/// Says why not: in the acknowledgement, or as `error` to those who did not ask for one.
fn refuse(socket: &SocketRef, reply: Reply, failure: &Failure) {
    if let Some(cause) = failure.chain() {
        tracing::error!(cause, socket = %socket.id, "a socket's request failed");
    }
    let problem = failure.tell(&Told { request_id: socket.id.as_str(), path: SOCKET_PATH });
    if reply.is_awaited() {
        acknowledge(socket, reply, &json!({ "error": problem }));
    } else {
        tell_error(socket, problem.code, &problem.detail);
    }
}

fn tell_error(socket: &SocketRef, code: ErrorCode, message: &str) {
    // A client whose buffer is full is hung up on, before or after.
    let _ = socket.emit("error", &json!({ "seq": null, "code": code, "message": message }));
}

/// A client that cannot even take an answer is hung up on: it comes back and asks again.
fn acknowledge(socket: &SocketRef, reply: Reply, answer: &Value) {
    if reply.send(answer).is_err() {
        deliver::hang_up(socket);
    }
}
