//! Admission of clients.

use std::{fmt, sync::Arc};

use axum::http::header;
use socketioxide::extract::SocketRef;
use tokio::sync::{OwnedSemaphorePermit, TryAcquireError};
use warren_domain::ErrorCode;
use warren_wire::SocketAuth;

use super::member::Member;
use crate::{choke, cookies, deps::App, failure::Failure};

/// Why a client was refused, for `connect_error`.
#[derive(Debug)]
pub(super) struct Refusal(Failure);

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.0.code, self.0.detail())
    }
}

/// Lets a client in that shows a good token, as a page of ours or as a program.
pub(super) async fn connect(app: App, socket: &SocketRef, auth: SocketAuth) -> Result<(), Refusal> {
    let admitted = admit(app, socket, auth).await;
    let member = admitted.inspect_err(|failure| {
        if let Some(cause) = failure.chain() {
            tracing::error!(cause, socket = %socket.id, "a socket could not connect");
        }
    });
    socket.extensions.insert(Arc::new(member.map_err(Refusal)?));
    Ok(())
}

async fn admit(app: App, socket: &SocketRef, auth: SocketAuth) -> Result<Member, Failure> {
    let secret = secret(&app, socket, auth)?;
    let identity = app.gateway().authenticate(&secret).await?;
    let validity = app.gateway().validity(&identity);
    let place = place(&app)?;
    Ok(Member::new(app, secret, validity, place))
}

/// The token: in the payload, in the handshake's header, or in the cookie of a page that can also show its companion.
fn secret(app: &App, socket: &SocketRef, auth: SocketAuth) -> Result<String, Failure> {
    if let Some(token) = auth.token {
        return Ok(token);
    }
    let headers = &socket.req_parts().headers;
    if let Some(value) = headers.get(header::AUTHORIZATION) {
        return choke::bearer(value.to_str().unwrap_or_default()).map(str::to_owned);
    }
    let Some(secret) = cookies::secret(headers) else {
        return Err(Failure::new(ErrorCode::Unauthorized, "a token is needed; connect with `auth: {token}`"));
    };
    // The edge has compared the origin; a page that may read this cookie's companion is one of ours.
    if app.gateway().csrf_matches(secret, auth.csrf.as_deref().unwrap_or_default()) {
        return Ok(secret.to_owned());
    }
    Err(Failure::new(ErrorCode::Forbidden, "`auth.csrf` is missing or wrong; it is the cookie `warren_csrf`"))
}

fn place(app: &App) -> Result<OwnedSemaphorePermit, Failure> {
    let place = Arc::clone(&app.socket_places).try_acquire_owned();
    place.map_err(|error| match error {
        TryAcquireError::NoPermits | TryAcquireError::Closed => {
            Failure::new(ErrorCode::Unavailable, "too many sockets are open")
        }
    })
}
