//! The OpenAPI document, made from the table and the types.

mod operation;
mod schemas;

use serde_json::{Map, Value, json};

use crate::{CSRF_HEADER, ROUTES, SESSION_COOKIE};

/// The whole document, for a server of this version.
#[must_use]
pub fn openapi(version: &str) -> Value {
    let mut paths = Map::new();
    for route in ROUTES {
        let item = paths.entry(route.path).or_insert_with(|| json!({}));
        item[route.method.as_str().to_lowercase()] = operation::operation(route);
    }
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Warren",
            "version": version,
            "summary": "Runs coding agents in sandboxes and records everything they do.",
            "description": DESCRIPTION,
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "servers": [{"url": "/", "description": "This server"}],
        "security": [{"token": []}, {"cookie": [], "csrf": []}],
        "tags": operation::tags(),
        "paths": paths,
        "components": {
            "schemas": schemas::all(),
            "responses": operation::shared_responses(),
            "securitySchemes": {
                "token": {"type": "http", "scheme": "bearer", "description": "A token: `Authorization: Bearer wrn_…`."},
                "cookie": {"type": "apiKey", "in": "cookie", "name": SESSION_COOKIE, "description": "Set at sign-in; HttpOnly."},
                "csrf": {
                    "type": "apiKey", "in": "header", "name": CSRF_HEADER,
                    "description": "With a cookie, requests that change something must send the value of the cookie `warren_csrf` here."
                },
            },
        },
    })
}

const DESCRIPTION: &str = "Errors are RFC 9457 problem documents with a stable `code`; `/errors/{code}` explains each. Every \
             response has an `X-Request-Id`, which identifies the request in the server's log; clients can set their \
             own. Lists are paginated with `limit` and `cursor`. Streams are server-sent events without an `event:` \
             line: the type is inside the data, `id:` is the number in the log, and `Last-Event-ID` (or `after`) \
             resumes after it without a gap or a duplicate. Socket.IO under `/socket.io` (`docs/socketio.md`) and the \
             packets under `/api/build` carry the same log; `docs/protocols.md` maps events to each protocol.";

#[cfg(test)]
mod tests;
