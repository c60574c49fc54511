//! Pages of other origins: which the operator lets call, and what their browsers are told.
//!
//! Only exact origins are answered, never `*`: an answer may be one that a cookie gave.

use std::time::Duration;

use axum::http::{HeaderName, HeaderValue, Method, header};
use tower_http::cors::{AllowHeaders, AllowOrigin, AllowPrivateNetwork, CorsLayer};

use crate::{deps::Options, file_answer::CONVERTER};

/// How long a browser caches a preflight. Short, so that a removed origin loses access soon.
const REMEMBERED: Duration = Duration::from_secs(600);

/// Response headers that scripts may read, besides the default ones.
const EXPOSED: [HeaderName; 10] = [
    header::ACCEPT_RANGES,
    header::ALLOW,
    header::CONTENT_DISPOSITION,
    header::CONTENT_LENGTH,
    header::CONTENT_RANGE,
    header::ETAG,
    header::LOCATION,
    header::RETRY_AFTER,
    HeaderName::from_static("x-request-id"),
    CONVERTER,
];

/// The origins that may call. A host of previews is never among them: agents write what is served there.
pub(crate) fn origins(options: &Options) -> Vec<String> {
    let is_preview = |origin: &str| {
        let host = origin.split_once("://").map_or(origin, |(_, host)| host);
        options.previews.as_ref().is_some_and(|previews| previews.find(host).is_some())
    };
    let (refused, origins) =
        options.allowed_origins.iter().cloned().partition::<Vec<_>, _>(|origin| is_preview(origin));
    for origin in refused {
        tracing::warn!(origin, "the origin of a preview cannot be an allowed origin");
    }
    origins
}

/// Answers the questions browsers ask before they let a page of these origins call, and marks the answers such a page may
/// read. `None` if there are no such origins.
pub(crate) fn layer(origins: &[String]) -> Option<CorsLayer> {
    let values = origins.iter().filter_map(|origin| HeaderValue::from_str(origin).ok()).collect::<Vec<_>>();
    if values.is_empty() {
        return None;
    }
    let layer = CorsLayer::new()
        .allow_origin(AllowOrigin::list(values))
        .allow_methods([Method::GET, Method::HEAD, Method::POST, Method::PUT, Method::PATCH, Method::DELETE])
        .allow_headers(AllowHeaders::mirror_request())
        .allow_credentials(true)
        .allow_private_network(AllowPrivateNetwork::yes())
        .expose_headers(EXPOSED)
        .max_age(REMEMBERED);
    Some(layer)
}
