//! Pages shown in place of an app that cannot be shown.

use axum::{
    body::Body,
    http::{HeaderMap, HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};

use crate::failure::{Failure, Told, status};

const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'";

const STYLE: &str = "body{font:16px/1.5 system-ui,sans-serif;margin:15vh auto;max-width:36rem;padding:0 1rem;color:#333}\
    h1{font-size:1.25rem}pre{white-space:pre-wrap;background:#f4f4f4;padding:1rem;border-radius:6px;font-size:.8rem}\
    @media(prefers-color-scheme:dark){body{background:#161616;color:#ddd}pre{background:#222}a{color:#8bf}}";

/// It was started and does not listen yet: the page asks again by itself.
pub(super) fn starting(headers: &HeaderMap) -> Response {
    let text = "<p>The app is starting. This page reloads every second.</p>";
    page(headers, StatusCode::SERVICE_UNAVAILABLE, "Starting…", text, Some(1))
}

/// Nothing listens, and nothing is known that could.
pub(super) fn nothing(headers: &HeaderMap, port: u16) -> Response {
    let text =
        format!("<p>Nothing listens on port {port} of the sandbox. This page reloads automatically.</p>");
    page(headers, StatusCode::SERVICE_UNAVAILABLE, "Nothing here yet", &text, Some(3))
}

/// The page for a viewer who may not start the app.
pub(super) fn asleep(headers: &HeaderMap) -> Response {
    let text = "<p>The app is not running. Somebody with write access to the session can start it.</p>";
    page(headers, StatusCode::SERVICE_UNAVAILABLE, "Not running", text, Some(5))
}

/// The app ended by itself.
pub(super) fn ended(headers: &HeaderMap, said: &str, may_write: bool) -> Response {
    let again = if may_write { "<p><a href=\"/__warren/restart\">Restart the app</a></p>" } else { "" };
    let text = format!("<p>The app stopped. Its last output:</p><pre>{}</pre>{again}", escaped(said));
    page(headers, StatusCode::BAD_GATEWAY, "App stopped", &text, None)
}

/// The page for a refused request.
pub(super) fn refused(failure: &Failure) -> Response {
    let told = failure.tell(&Told { request_id: "", path: "" });
    if let Some(cause) = failure.chain() {
        tracing::error!(cause, "a preview failed");
    }
    let hint = told.hint.map(|hint| format!("<p>{}</p>", escaped(&hint))).unwrap_or_default();
    let text = format!("<p>{}.</p>{hint}", escaped(&told.detail));
    html(status(failure.code), &told.title, &text, None)
}

fn page(headers: &HeaderMap, code: StatusCode, title: &str, text: &str, again: Option<u8>) -> Response {
    let accepts = headers.get(header::ACCEPT).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let mut response = if accepts.contains("text/html") {
        html(code, title, text, again)
    } else {
        (code, format!("{title}\n")).into_response()
    };
    if let Some(seconds) = again {
        response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(u16::from(seconds)));
    }
    response
}

fn html(code: StatusCode, title: &str, text: &str, again: Option<u8>) -> Response {
    let refresh = again.map(|n| format!("<meta http-equiv=\"refresh\" content=\"{n}\">")).unwrap_or_default();
    let title = escaped(title);
    let body = format!(
        "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\">{refresh}<title>{title}</title>\
         <style>{STYLE}</style><h1>{title}</h1>{text}</html>"
    );
    let mut response = (code, Body::from(body)).into_response();
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8"));
    headers.insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::escaped;

    #[test]
    fn what_an_app_said_is_text() {
        assert_eq!(escaped("<b a=\"1\">&"), "&lt;b a=&quot;1&quot;&gt;&amp;");
    }
}
