use axum::{
    body::to_bytes,
    http::{HeaderMap, HeaderValue, Method, Request, StatusCode, header},
};

use super::{File, document, form, has_hash, is_visit, media, send, status_of};

static FILE: File =
    File { path: "assets/a.js", etag: "\"1\"", plain: b"plain", br: Some(b"br"), gz: Some(b"gz") };

fn with(name: header::HeaderName, value: &'static str) -> HeaderMap {
    HeaderMap::from_iter([(name, HeaderValue::from_static(value))])
}

#[test]
fn a_browser_gets_the_smallest_form_it_reads() {
    let sent = |accepted| form(&FILE, &with(header::ACCEPT_ENCODING, accepted));
    assert_eq!(sent("gzip, deflate, br, zstd"), (b"br".as_slice(), Some("br")));
    assert_eq!(sent("gzip, br;q=0"), (b"gz".as_slice(), Some("gzip")));
    assert_eq!(sent("identity"), (b"plain".as_slice(), None));
    assert_eq!(form(&FILE, &HeaderMap::new()), (b"plain".as_slice(), None));
}

#[tokio::test]
async fn what_a_browser_has_already_is_not_sent_again() {
    let response = send(&FILE, &with(header::IF_NONE_MATCH, "\"0\", W/\"1\""));
    assert_eq!(response.status(), StatusCode::NOT_MODIFIED);
    assert!(to_bytes(response.into_body(), 10).await.expect("a body").is_empty());
    let response = send(&FILE, &with(header::IF_NONE_MATCH, "\"2\""));
    assert_eq!(response.status(), StatusCode::OK);
    assert_eq!(response.headers()[header::CONTENT_TYPE], "text/javascript; charset=utf-8");
}

#[tokio::test]
async fn the_document_allows_no_script_but_its_own_files_and_is_there_without_the_page() {
    let response = document(StatusCode::OK, &HeaderMap::new(), &["https://*.preview.example.com".to_owned()]);
    let policy = response.headers()[header::CONTENT_SECURITY_POLICY].to_str().expect("text").to_owned();
    assert!(policy.starts_with("default-src 'none'; script-src 'self'; style-src 'self';"), "{policy}");
    assert!(policy.ends_with("frame-src http://*.localhost:* https://*.preview.example.com"), "{policy}");
    assert!(!policy.contains("unsafe"), "{policy}");
    assert_eq!(response.headers()[header::CACHE_CONTROL], "no-cache");
    let text = to_bytes(response.into_body(), 1 << 20).await.expect("a body");
    let text = String::from_utf8(text.to_vec()).expect("text");
    assert!(text.contains("<title>Warren</title>"), "{text}");
    assert!(!text.contains("<script>") && !text.contains("<style"), "nothing inline: {text}");
}

#[test]
fn only_names_with_a_hash_are_kept_for_ever() {
    assert!(has_hash("index-BACbF2Kc.css") && has_hash("pdf.worker-D_x4-Q9a.mjs"));
    assert!(!has_hash("theme.js") && !has_hash("mark.svg") && !has_hash("some-longword.js"));
}

#[test]
fn a_visit_to_a_place_of_the_page_is_told_from_a_call() {
    let request = |method: Method, path: &str, accept: &str| {
        let request = Request::builder().method(method).uri(path).header(header::ACCEPT, accept);
        is_visit(&request.body(()).expect("a request"))
    };
    let html = "text/html,application/xhtml+xml,*/*;q=0.8";
    assert!(request(Method::GET, "/sessions/1?tab=files", html));
    assert!(!request(Method::GET, "/sessions/1", "*/*"));
    assert!(!request(Method::POST, "/sessions/1", html));
    assert!(!request(Method::GET, "/api/nothing", html));
    assert!(!request(Method::GET, "/assets/gone.js", html));
    assert_eq!(status_of("/sessions/1"), StatusCode::OK);
    assert_eq!(status_of("/overview"), StatusCode::OK);
    assert_eq!(status_of("/doctor"), StatusCode::OK);
    assert_eq!(status_of("/board"), StatusCode::OK);
    assert_eq!(status_of("/sessions/1/2"), StatusCode::NOT_FOUND);
    assert_eq!(status_of("/wp-admin"), StatusCode::NOT_FOUND);
}

#[test]
fn files_have_their_types() {
    assert_eq!(media("index.html"), "text/html; charset=utf-8");
    assert_eq!(media("assets/pdf.worker-12345678.mjs"), "text/javascript; charset=utf-8");
    assert_eq!(media("assets/unknown"), "application/octet-stream");
}
