//! A bucket that speaks as much S3 as an object store needs, in memory.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex},
};

use axum::{
    Router,
    body::{Body, Bytes},
    extract::{Request, State},
    http::{HeaderMap, Method, Response, StatusCode, header},
};
use warren_env::{TaskKind, Tasks};
use warren_snapshots::S3;

type Objects = Arc<Mutex<BTreeMap<String, Bytes>>>;

/// A bucket that listens until it is dropped.
pub(crate) struct Bucket {
    pub(crate) s3: S3,
    objects: Objects,
    tasks: Tasks,
}

impl Bucket {
    pub(crate) async fn start() -> Self {
        // Whoever is first installs it; it is the same one.
        _ = rustls::crypto::ring::default_provider().install_default();
        let objects = Objects::default();
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("listens");
        let port = listener.local_addr().expect("an address").port();
        let router = Router::new().fallback(answer).with_state(objects.clone());
        let tasks = Tasks::new();
        tasks.spawn(TaskKind::Connection, async move { axum::serve(listener, router).await });
        let s3 = S3 {
            bucket: "bucket".to_owned(),
            prefix: "some/where".to_owned(),
            endpoint: Some(format!("http://127.0.0.1:{port}")),
            region: "nowhere-1".to_owned(),
            access_key_id: "key".to_owned(),
            secret_access_key: "secret".to_owned(),
        };
        Self { s3, objects, tasks }
    }

    pub(crate) fn names(&self) -> Vec<String> {
        self.objects.lock().expect("no panic").keys().cloned().collect()
    }
}

impl Drop for Bucket {
    fn drop(&mut self) {
        self.tasks.cancel();
    }
}

async fn answer(State(objects): State<Objects>, request: Request) -> Response<Body> {
    let (parts, body) = request.into_parts();
    let body = axum::body::to_bytes(body, 1 << 30).await.expect("a body");
    let name = parts.uri.path().trim_start_matches("/bucket").trim_start_matches('/').replace("%3D", "=");
    let query = parts.uri.query().unwrap_or_default();
    if !parts
        .headers
        .get("authorization")
        .is_some_and(|value| value.to_str().is_ok_and(|v| v.contains("Signature=")))
    {
        return status(StatusCode::FORBIDDEN);
    }
    let mut objects = objects.lock().expect("no panic");
    match parts.method {
        Method::GET if query.contains("list-type=2") => list(&objects, query),
        Method::GET | Method::HEAD => match objects.get(&name) {
            Some(content) => get(content, &parts.headers, parts.method == Method::HEAD),
            None => status(StatusCode::NOT_FOUND),
        },
        Method::PUT if parts.headers.contains_key(header::IF_NONE_MATCH) && objects.contains_key(&name) => {
            status(StatusCode::PRECONDITION_FAILED)
        }
        Method::PUT => {
            objects.insert(name, body);
            Response::builder().header(header::ETAG, "\"x\"").body(Body::empty()).expect("a response")
        }
        Method::POST if query.starts_with("delete") => {
            let text = String::from_utf8_lossy(&body).into_owned();
            let mut deleted = String::new();
            for key in text.split("<Key>").skip(1).filter_map(|part| part.split("</Key>").next()) {
                objects.remove(key);
                deleted.push_str(&format!("<Deleted><Key>{key}</Key></Deleted>"));
            }
            Response::new(Body::from(format!(
                "<?xml version=\"1.0\"?><DeleteResult>{deleted}</DeleteResult>"
            )))
        }
        Method::DELETE => {
            objects.remove(&name);
            status(StatusCode::NO_CONTENT)
        }
        _ => status(StatusCode::NOT_IMPLEMENTED),
    }
}

fn get(content: &Bytes, headers: &HeaderMap, is_head: bool) -> Response<Body> {
    let all = content.len();
    let range = headers
        .get(header::RANGE)
        .and_then(|range| range.to_str().ok()?.strip_prefix("bytes=")?.split_once('-'));
    let number = |text: &str| text.parse::<usize>().ok();
    let range = range.and_then(|(from, to)| match (number(from), number(to)) {
        (Some(from), Some(to)) => Some(from..(to + 1).min(all)),
        (Some(from), None) => Some(from..all),
        (None, Some(last)) => Some(all.saturating_sub(last)..all),
        (None, None) => None,
    });
    let response = Response::builder()
        .header(header::ETAG, "\"x\"")
        .header(header::LAST_MODIFIED, "Wed, 21 Oct 2015 07:28:00 GMT");
    let body = |bytes: Bytes| if is_head { Body::empty() } else { Body::from(bytes) };
    let response = match range {
        Some(range) => response
            .status(StatusCode::PARTIAL_CONTENT)
            .header(header::CONTENT_RANGE, format!("bytes {}-{}/{all}", range.start, range.end.max(1) - 1))
            .header(header::CONTENT_LENGTH, range.len())
            .body(body(content.slice(range))),
        None => response.header(header::CONTENT_LENGTH, all).body(body(content.clone())),
    };
    response.expect("a response")
}

fn list(objects: &BTreeMap<String, Bytes>, query: &str) -> Response<Body> {
    let prefix = query.split('&').find_map(|pair| pair.strip_prefix("prefix=")).unwrap_or_default();
    let prefix = prefix.replace("%2F", "/");
    let found = objects.iter().filter(|(name, _)| name.starts_with(&prefix));
    let contents: String = found
        .map(|(name, content)| {
            let size = content.len();
            let time = "2015-10-21T07:28:00.000Z";
            format!("<Contents><Key>{name}</Key><LastModified>{time}</LastModified><ETag>\"x\"</ETag><Size>{size}</Size></Contents>")
        })
        .collect();
    let text = format!(
        "<?xml version=\"1.0\"?><ListBucketResult><IsTruncated>false</IsTruncated>{contents}</ListBucketResult>"
    );
    Response::new(Body::from(text))
}

fn status(status: StatusCode) -> Response<Body> {
    Response::builder().status(status).body(Body::empty()).expect("a response")
}
