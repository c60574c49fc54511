//! The web page's own files.

use axum::http::StatusCode;

use crate::{choke::Call, failure::Failure, page, respond::Answer};

pub(crate) async fn home(call: Call) -> Answer {
    Ok(page::document(StatusCode::OK, call.headers(), &call.app().deps.options.preview_frames))
}

pub(crate) async fn asset(call: Call) -> Answer {
    let name = call.parameter("file");
    page::asset(name, call.headers())
        .ok_or_else(|| Failure::not_found("file of the page", name.escape_debug()))
}
