//! The outermost layer: every request gets a name, every answer its headers, every failure its problem document.

use std::{any::Any, panic::AssertUnwindSafe};

use axum::{
    body::Body,
    extract::{Request, State},
    http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header},
    middleware::Next,
    response::{IntoResponse, Response},
};
use futures::FutureExt;
use tokio::time::Instant;
use tracing::Instrument;
use warren_env::TaskKind;
use warren_runtime::api::PreviewHost;
use warren_wire::RouteName;

use crate::{
    choke::{self, RequestId},
    deps::App,
    failure::{Failure, Told},
    rest::Rest,
};

const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// Set on every answer that does not set them itself.
const HEADERS: &[(&str, &str)] = &[
    ("cache-control", "no-store"),
    ("content-security-policy", "default-src 'none'; frame-ancestors 'none'"),
    ("cross-origin-opener-policy", "same-origin"),
    ("cross-origin-resource-policy", "same-origin"),
    ("referrer-policy", "no-referrer"),
    ("x-content-type-options", "nosniff"),
    ("x-frame-options", "DENY"),
];

/// Takes a request in and its answer out.
pub(crate) async fn pass(State(app): State<App>, request: Request, next: Next) -> Response {
    if let Some(host) = preview_host(&app, &request) {
        return choke::answer_preview(app, host, request).await;
    }
    let began = Instant::now();
    let id = request_id(&app, request.headers());
    let path = request.uri().path().to_owned();
    let method = request.method().clone();
    let span = tracing::info_span!("request", id, %method, path);
    let (mut request, rest) = Rest::of(request);
    request.extensions_mut().insert(RequestId(id.clone()));
    let mut response = go_on(&app, request, next).instrument(span.clone()).await;
    span.in_scope(|| {
        write_problem(&mut response, &Told { request_id: &id, path: &path });
        record(&response, began);
    });
    finish(response.headers_mut(), &id);
    let is_refused = response.status().is_client_error() || response.status().is_server_error();
    if is_refused && rest.is_coming() {
        app.deps.tasks.spawn(TaskKind::Connection, rest.discard());
    }
    response
}

async fn go_on(app: &App, request: Request, next: Next) -> Response {
    let checked = app.hosts.check(request.method(), request.uri(), request.headers());
    if let Err(failure) = checked {
        return failure.into_response();
    }
    // Nothing of the request is used after a panic, so nothing half-done can be seen.
    match AssertUnwindSafe(next.run(request)).catch_unwind().await {
        Ok(response) => response,
        Err(panic) => Failure::internal(format!("panic: {}", words(panic.as_ref()))).into_response(),
    }
}

/// The host of a preview that the request is for, if it is for one.
fn preview_host(app: &App, request: &Request) -> Option<PreviewHost> {
    let hosts = app.deps.options.previews.as_ref()?;
    let mut named = request.headers().get_all(header::HOST).iter();
    let (first, second) = (named.next()?, named.next());
    // A request that names two servers is for none: the check below refuses it.
    if second.is_some() || request.uri().authority().is_some() {
        return None;
    }
    hosts.find(first.to_str().ok()?)
}

/// The client's own name for the request, if it is one that can go into a log, else a new one.
fn request_id(app: &App, headers: &HeaderMap) -> String {
    let shown = headers.get(REQUEST_ID).and_then(|value| value.to_str().ok());
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b':');
    match shown {
        Some(id) if !id.is_empty() && id.len() <= 128 && id.bytes().all(is_plain) => id.to_owned(),
        _ => app.deps.env.uuid().to_string(),
    }
}

/// Puts the problem document into an answer that carries a failure.
fn write_problem(response: &mut Response, told: &Told<'_>) {
    let Some(failure) = response.extensions_mut().remove::<Failure>() else { return };
    if let Some(cause) = failure.chain() {
        tracing::error!(cause, "request failed");
    }
    match serde_json::to_vec(&failure.tell(told)) {
        Ok(bytes) => {
            *response.body_mut() = Body::from(bytes);
            let media = HeaderValue::from_static("application/problem+json");
            response.headers_mut().insert(header::CONTENT_TYPE, media);
            // Whatever was counted was counted for another body.
            response.headers_mut().remove(header::CONTENT_LENGTH);
        }
        Err(error) => {
            tracing::error!(error = &error as &dyn std::error::Error, "failed to write a problem document");
            *response.status_mut() = StatusCode::INTERNAL_SERVER_ERROR;
        }
    }
}

fn record(response: &Response, began: Instant) {
    let route = response.extensions().get::<RouteName>().map_or("none", |name| name.as_str());
    let status = response.status().as_u16();
    let took = began.elapsed();
    metrics::counter!("warren_http_requests_total", "route" => route, "status" => status.to_string())
        .increment(1);
    metrics::histogram!("warren_http_request_seconds", "route" => route).record(took);
    tracing::debug!(route, status, ?took, "answered");
}

fn finish(headers: &mut HeaderMap, id: &str) {
    for (name, value) in HEADERS {
        headers.entry(*name).or_insert(HeaderValue::from_static(value));
    }
    if let Ok(id) = HeaderValue::from_str(id) {
        headers.insert(REQUEST_ID, id);
    }
}

fn words(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("no words")
}
