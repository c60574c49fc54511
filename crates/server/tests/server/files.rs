//! Files over HTTP: parts, states, uploads, archives.

use std::{io::Read as _, sync::Arc};

use axum::{
    body::Body,
    http::{Method, StatusCode, header},
};
use futures::StreamExt as _;
use tokio::sync::Barrier;
use warren_domain::{ArtifactKind, SessionId};

use crate::{
    fake_files::artifact,
    support::{Reply, TestServer, request},
};

async fn get(server: &TestServer, path: &str, headers: &[(&str, &str)]) -> Reply {
    let mut request = request(Method::GET, path, Some(&server.owner));
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    server.call(request.body(Body::empty()).expect("a request")).await
}

async fn upload(server: &TestServer, session: SessionId, media: &str, body: Vec<u8>) -> Reply {
    let path = format!("/api/sessions/{session}/fs/upload");
    let request = request(Method::POST, &path, Some(&server.owner)).header(header::CONTENT_TYPE, media);
    server.call(request.body(Body::from(body)).expect("a request")).await
}

const MEDIA: &str = "multipart/form-data; boundary=XX";

fn form(files: &[(&str, &[u8])]) -> Vec<u8> {
    let mut body = Vec::new();
    for (name, content) in files {
        body.extend_from_slice(
            format!("--XX\r\ncontent-disposition: form-data; name=\"file\"; filename=\"{name}\"\r\n\r\n")
                .as_bytes(),
        );
        body.extend_from_slice(content);
        body.extend_from_slice(b"\r\n");
    }
    body.extend_from_slice(b"--XX--\r\n");
    body
}

#[tokio::test]
async fn a_file_is_read_whole_in_parts_and_not_again_if_it_is_known() {
    let server = TestServer::start().await;
    let session = server.session().await;
    server.runtime.files.put("a.html", b"0123456789");
    let path = format!("/api/sessions/{session}/fs/read?path=a.html");
    let whole = get(&server, &path, &[("accept", "image/png")]).await;
    assert_eq!((whole.status, whole.body.as_slice()), (StatusCode::OK, &b"0123456789"[..]));
    assert_eq!(whole.headers["content-type"], "text/html; charset=utf-8");
    assert_eq!(whole.headers["accept-ranges"], "bytes");
    assert!(whole.headers["content-security-policy"].to_str().expect("text").starts_with("sandbox;"));
    assert_eq!(whole.headers["x-content-type-options"], "nosniff");
    let tag = whole.headers["etag"].to_str().expect("text").to_owned();

    let part = get(&server, &path, &[("range", "bytes=2-4")]).await;
    assert_eq!((part.status, part.body.as_slice()), (StatusCode::PARTIAL_CONTENT, &b"234"[..]));
    assert_eq!(part.headers["content-range"], "bytes 2-4/10");
    assert_eq!(part.headers["content-length"], "3");
    let last = get(&server, &path, &[("range", "bytes=-3"), ("if-range", &tag)]).await;
    assert_eq!(last.body, b"789");
    let other = get(&server, &path, &[("range", "bytes=-3"), ("if-range", "\"other\"")]).await;
    assert_eq!((other.status, other.body.len()), (StatusCode::OK, 10));
    let beyond = get(&server, &path, &[("range", "bytes=10-")]).await;
    assert_eq!(beyond.problem(), "RANGE_NOT_SATISFIABLE");
    assert_eq!(beyond.headers["content-range"], "bytes */10");
    let known = get(&server, &path, &[("if-none-match", &tag)]).await;
    assert_eq!((known.status, known.body.len()), (StatusCode::NOT_MODIFIED, 0));
    assert_eq!(
        get(&server, &format!("/api/sessions/{session}/fs/read?path=b"), &[]).await.problem(),
        "NOT_FOUND"
    );
}

#[tokio::test]
async fn a_part_is_of_the_file_that_its_state_names_though_another_takes_its_place() {
    let server = TestServer::start().await;
    let session = server.session().await;
    let path = format!("/api/sessions/{session}/fs/read?path=a.txt");
    let swaps = |contents: &[&[u8]]| {
        *server.runtime.files.swaps.lock().expect("a lock") = contents.iter().map(|it| it.to_vec()).collect();
    };
    server.runtime.files.put("a.txt", b"first");
    swaps(&[b"the second"]);
    let part = get(&server, &path, &[("range", "bytes=2-3")]).await;
    assert_eq!((part.status, part.body.as_slice()), (StatusCode::PARTIAL_CONTENT, &b"e "[..]));
    assert_eq!(part.headers["content-range"], "bytes 2-3/10");
    let again = get(&server, &path, &[]).await;
    assert_eq!(
        (part.headers["etag"].clone(), again.body),
        (again.headers["etag"].clone(), b"the second".to_vec())
    );

    // One that never stands still is told whole.
    swaps(&[b"12345", b"1234", b"12345", b"1234", b"12345"]);
    let whole = get(&server, &path, &[("range", "bytes=2-3")]).await;
    assert_eq!((whole.status, whole.body.as_slice()), (StatusCode::OK, &b"12345"[..]));
}

#[tokio::test]
async fn a_file_is_replaced_only_if_it_is_as_the_caller_believes() {
    let server = TestServer::start().await;
    let session = server.session().await;
    let path = format!("/api/sessions/{session}/fs?path=a.txt");
    let put = |headers: Vec<(&'static str, String)>, body: &'static str| {
        let mut request = request(Method::PUT, &path, Some(&server.owner));
        for (name, value) in headers {
            request = request.header(name, value);
        }
        server.call(request.body(Body::from(body)).expect("a request"))
    };
    assert_eq!(put(vec![("if-match", "*".to_owned())], "x").await.problem(), "PRECONDITION_FAILED");
    let made = put(vec![("if-none-match", "*".to_owned())], "one").await;
    assert_eq!((made.status, made.json()["sizeBytes"].clone()), (StatusCode::OK, 3.into()));
    let tag = made.headers["etag"].to_str().expect("text").to_owned();
    assert_eq!(made.json()["etag"], tag);
    assert_eq!(put(vec![("if-none-match", "*".to_owned())], "two").await.problem(), "PRECONDITION_FAILED");
    let replaced = put(vec![("if-match", tag.clone())], "three").await;
    assert_eq!(replaced.status, StatusCode::OK);
    let listed = format!("\"other\", {}", replaced.headers["etag"].to_str().expect("text"));
    assert_eq!(put(vec![("if-match", listed)], "seven").await.status, StatusCode::OK);
    assert_eq!(
        put(vec![("if-match", "\"other\", \"another\"".to_owned())], "x").await.problem(),
        "PRECONDITION_FAILED"
    );
    assert_eq!(put(vec![("if-match", tag)], "four").await.problem(), "PRECONDITION_FAILED");
    assert_eq!(put(vec![("content-length", "50000001".to_owned())], "").await.problem(), "TOO_LARGE");
    let removed = server.send(Method::DELETE, &server.owner, &path, "").await;
    assert_eq!((removed.status, server.runtime.files.paths().len()), (StatusCode::NO_CONTENT, 0));
}

#[tokio::test]
async fn an_upload_brings_all_files_or_none() {
    let server = TestServer::start().await;
    let session = server.session().await;
    let reply = upload(&server, session, MEDIA, form(&[("a.csv", b"1,2"), ("b c.txt", b"x")])).await;
    assert_eq!(reply.status, StatusCode::CREATED, "{reply:?}");
    assert_eq!(reply.json()["files"][1]["path"], "/user-input/b c.txt");
    let beside = b"--XX\r\ncontent-disposition: form-data; name=\"note\"\r\n\r\nplain text\r\n\
        --XX\r\ncontent-disposition: form-data; name=\"f\"; filename*=UTF-8''c%20d.txt\r\n\r\nx\r\n--XX--\r\n";
    assert_eq!(upload(&server, session, MEDIA, beside.to_vec()).await.status, StatusCode::CREATED);
    let before = server.runtime.files.paths();
    assert_eq!(before, ["/user-input/a.csv", "/user-input/b c.txt", "/user-input/c d.txt"]);

    let twice = form(&[("new.txt", b"x"), ("new.txt", b"y")]);
    let mut cut = form(&[("new.txt", b"x")]);
    cut.truncate(cut.len() - 10);
    let unnamed = b"--XX\r\ncontent-disposition: form-data; name=\"file\"\r\n\r\nx\r\n--XX--\r\n".to_vec();
    for (what, media, body, code) in [
        ("a name that is there", MEDIA, form(&[("new.txt", b"x"), ("a.csv", b"y")]), "CONFLICT"),
        ("one name twice", MEDIA, twice, "BAD_REQUEST"),
        ("a path", MEDIA, form(&[("new.txt", b"x"), ("../../etc/passwd", b"y")]), "BAD_REQUEST"),
        ("another path", MEDIA, form(&[("a\\b", b"y")]), "BAD_REQUEST"),
        ("a directory", MEDIA, form(&[("..", b"y")]), "BAD_REQUEST"),
        ("no name", MEDIA, unnamed, "BAD_REQUEST"),
        ("no files", MEDIA, b"--XX--\r\n".to_vec(), "BAD_REQUEST"),
        ("a form that breaks off", MEDIA, cut, "BAD_REQUEST"),
        ("no form", MEDIA, b"nonsense".to_vec(), "BAD_REQUEST"),
        ("no boundary", "multipart/form-data", form(&[("new.txt", b"x")]), "UNSUPPORTED_MEDIA_TYPE"),
        ("JSON", "application/json", b"{}".to_vec(), "UNSUPPORTED_MEDIA_TYPE"),
    ] {
        let reply = upload(&server, session, media, body).await;
        assert_eq!(reply.problem(), code, "{what}");
        assert_eq!(server.runtime.files.paths(), before, "{what}");
    }
}

#[tokio::test]
async fn uploads_are_bounded_in_number_and_size() {
    let server = TestServer::start().await;
    let session = server.session().await;
    let names: Vec<String> = (0..21).map(|n| format!("{n}.txt")).collect();
    let many: Vec<(&str, &[u8])> = names.iter().map(|name| (name.as_str(), &b"x"[..])).collect();
    let reply = upload(&server, session, MEDIA, form(&many)).await;
    assert_eq!((reply.problem().as_str(), server.runtime.files.paths().len()), ("TOO_LARGE", 0));

    let large = vec![0; 50_000_001];
    let reply = upload(&server, session, MEDIA, form(&[("ok.txt", b"x"), ("large.bin", &large)])).await;
    assert_eq!((reply.problem().as_str(), server.runtime.files.paths().len()), ("TOO_LARGE", 0));

    for n in 0..4 {
        server.runtime.files.put(&format!("/user-input/{n}"), &large[..49_999_999]);
    }
    let reply = upload(&server, session, MEDIA, form(&[("more.bin", b"12345")])).await;
    assert_eq!((reply.problem().as_str(), server.runtime.files.paths().len()), ("TOO_LARGE", 4));
    assert_eq!(
        upload(&server, session, MEDIA, form(&[("four.bin", b"1234")])).await.status,
        StatusCode::CREATED
    );
}

/// A body of which the rest comes when everybody who waits at the barrier has sent the first.
fn halting(first: Vec<u8>, rest: Vec<u8>, barrier: &Arc<Barrier>) -> Body {
    let barrier = barrier.clone();
    let rest = futures::stream::once(async move {
        barrier.wait().await;
        Ok::<_, std::io::Error>(rest)
    });
    Body::from_stream(futures::stream::iter([Ok(first)]).chain(rest))
}

#[tokio::test]
async fn uploads_that_come_at_once_share_the_room_there_is() {
    let server = TestServer::start().await;
    let session = server.session().await;
    server.runtime.files.put("/user-input/before.txt", b"x");
    let barrier = Arc::new(Barrier::new(30));
    let one = async |n: usize| {
        let (path, first, rest) = if n.is_multiple_of(3) {
            (format!("fs?path=/user-input/{n}"), b"one".to_vec(), b"two".to_vec())
        } else {
            let mut first = form(&[(&format!("{n}.txt"), b"onetwo")]);
            let rest = first.split_off(first.len() - 15);
            ("fs/upload".to_owned(), first, rest)
        };
        let method = if n.is_multiple_of(3) { Method::PUT } else { Method::POST };
        let request = request(method, &format!("/api/sessions/{session}/{path}"), Some(&server.owner))
            .header(header::CONTENT_TYPE, MEDIA);
        server.call(request.body(halting(first, rest, &barrier)).expect("a request")).await
    };
    let replies = futures::future::join_all((0..30).map(one)).await;
    let n_taken = replies.iter().filter(|reply| reply.status.is_success()).count();
    assert_eq!((n_taken, server.runtime.files.paths().len()), (19, 20));
    for refused in replies.iter().filter(|reply| !reply.status.is_success()) {
        assert_eq!(refused.problem(), "TOO_LARGE");
    }
}

#[tokio::test]
async fn uploads_that_come_at_once_are_not_more_bytes_than_a_session_takes() {
    let server = TestServer::start().await;
    let session = server.session().await;
    server.runtime.files.put("/user-input/large", &vec![0; 199_999_990]);
    let barrier = Arc::new(Barrier::new(2));
    let one = async |name: &str| {
        let path = format!("/api/sessions/{session}/fs?path=/user-input/{name}");
        let body = halting(b"1234".to_vec(), b"5678".to_vec(), &barrier);
        server.call(request(Method::PUT, &path, Some(&server.owner)).body(body).expect("a request")).await
    };
    let (a, b) = tokio::join!(one("a"), one("b"));
    let mut statuses = [a.status, b.status];
    statuses.sort();
    assert_eq!(statuses, [StatusCode::OK, StatusCode::PAYLOAD_TOO_LARGE]);
    assert_eq!(server.runtime.files.paths().len(), 2);
}

#[tokio::test]
async fn what_may_not_be_read_is_named_in_the_archive_of_the_rest() {
    let server = TestServer::start().await;
    let session = server.session().await;
    for path in ["d/a.txt", "d/deep/secret.txt", "d/z.txt"] {
        server.runtime.files.put(path, b"content");
    }
    server.runtime.files.forbidden.lock().expect("a lock").push("d/deep/secret.txt".to_owned());
    let reply = get(&server, &format!("/api/sessions/{session}/fs/archive?path=d"), &[]).await;
    assert_eq!(reply.status, StatusCode::OK);
    let mut archive = tar::Archive::new(flate2::read::GzDecoder::new(&reply.body[..]));
    let found: Vec<_> = archive
        .entries()
        .expect("an archive")
        .map(|entry| {
            let mut entry = entry.expect("an entry");
            let mut text = String::new();
            entry.read_to_string(&mut text).expect("content");
            (entry.path().expect("a path").display().to_string(), text)
        })
        .collect();
    let expect =
        [("a.txt", "content"), ("z.txt", "content"), ("left-out-of-this-archive.txt", "deep/secret.txt\n")];
    assert_eq!(found, expect.map(|(path, text)| (path.to_owned(), text.to_owned())));
}

#[tokio::test]
async fn a_directory_comes_as_one_archive() {
    let server = TestServer::start().await;
    let session = server.session().await;
    let deep = format!("d/{}/{}", "n".repeat(90), "m".repeat(90));
    let large: Vec<u8> = (0..200_000u32).map(|n| n.to_le_bytes()[0]).collect();
    server.runtime.files.put("d/a.txt", b"one");
    server.runtime.files.put(&deep, &large);
    let reply = get(&server, &format!("/api/sessions/{session}/fs/archive?path=d"), &[]).await;
    assert_eq!(
        (reply.status, &reply.headers["content-type"]),
        (StatusCode::OK, &"application/gzip".parse().expect("a value"))
    );
    assert_eq!(reply.headers["content-disposition"], "attachment; filename=\"d.tar.gz\"");
    let mut archive = tar::Archive::new(flate2::read::GzDecoder::new(&reply.body[..]));
    let mut found = Vec::new();
    for entry in archive.entries().expect("an archive") {
        let mut entry = entry.expect("an entry");
        let path = entry.path().expect("a path").display().to_string();
        let mut content = Vec::new();
        entry.read_to_end(&mut content).expect("content");
        found.push((path, content));
    }
    let expect = [("a.txt".to_owned(), b"one".to_vec()), (deep[2..].to_owned(), large)];
    assert_eq!(found, expect);
}

#[tokio::test]
async fn an_artifacts_content_is_its_file_and_an_app_has_none() {
    let server = TestServer::start().await;
    let session = server.session().await;
    server.runtime.files.put("outputs/page.html", b"<script>alert(1)</script>");
    let base = format!("/api/sessions/{session}/artifacts");
    let listed = get(&server, &base, &[]).await.json();
    assert_eq!(
        listed["artifacts"][0]["previewUrl"],
        format!("http://files-{session}.localhost:7777/outputs/page.html")
    );
    assert_eq!(listed["artifacts"][1]["previewUrl"], format!("http://3000-{session}.localhost:7777/"));
    let page = artifact(session, "outputs/page.html", ArtifactKind::Html).id;
    let content = get(&server, &format!("{base}/{page}/content"), &[]).await;
    assert_eq!(content.status, StatusCode::OK);
    assert!(
        content.headers["content-security-policy"]
            .to_str()
            .expect("text")
            .starts_with("sandbox; default-src 'none'")
    );
    let app = artifact(session, "outputs/web", ArtifactKind::WebApp).id;
    assert_eq!(get(&server, &format!("{base}/{app}/content"), &[]).await.problem(), "BAD_REQUEST");
    assert_eq!(get(&server, &format!("{base}/{session}"), &[]).await.problem(), "NOT_FOUND");
    assert_eq!(get(&server, &format!("{base}/x"), &[]).await.problem(), "NOT_FOUND");
}

#[tokio::test]
async fn what_is_uploaded_into_the_workspace_is_bounded_by_the_form_and_not_by_what_is_there() {
    let server = TestServer::start().await;
    let session = server.session().await;
    let to = async |directory: &str, body: Vec<u8>| {
        let path = format!("/api/sessions/{session}/fs/upload?path={directory}");
        let request = request(Method::POST, &path, Some(&server.owner)).header(header::CONTENT_TYPE, MEDIA);
        server.call(request.body(Body::from(body)).expect("a request")).await
    };
    for n in 0..20 {
        server.runtime.files.put(&format!("/user-input/{n}"), b"x");
        server.runtime.files.put(&format!("data/{n}"), b"x");
    }
    for full in ["/user-input", "/user-input/", "//user-input/deeper"] {
        assert_eq!(to(full, form(&[("more.txt", b"x")])).await.problem(), "TOO_LARGE", "{full}");
    }
    assert_eq!(to("data", form(&[("more.txt", b"x")])).await.status, StatusCode::CREATED);
    let names: Vec<String> = (0..21).map(|n| format!("new-{n}.txt")).collect();
    let many: Vec<(&str, &[u8])> = names.iter().map(|name| (name.as_str(), &b"x"[..])).collect();
    assert_eq!(to("data", form(&many)).await.problem(), "TOO_LARGE");
    let n_left = server.runtime.files.paths().iter().filter(|path| path.starts_with("data/new")).count();
    assert_eq!(n_left, 0, "all of a form or none");
}

/// A browser runs a script, and applies a style, only if its type says so, once it is told not to guess.
#[tokio::test]
async fn what_an_agent_wrote_is_no_script_and_no_style_on_the_pages_origin() {
    let server = TestServer::start().await;
    let session = server.session().await;
    for (name, media) in [
        ("a.js", "text/plain; charset=utf-8"),
        ("a.MJS", "text/plain; charset=utf-8"),
        ("a.css", "text/plain; charset=utf-8"),
        ("a.json", "application/json"),
        ("a.svg", "image/svg+xml"),
        ("a.pdf", "application/pdf"),
        ("a.png", "image/png"),
        ("a", "application/octet-stream"),
    ] {
        server.runtime.files.put(name, b"x");
        let read = get(&server, &format!("/api/sessions/{session}/fs/read?path={name}"), &[]).await;
        assert_eq!(
            (read.status, read.headers["content-type"].to_str().expect("text")),
            (StatusCode::OK, media),
            "{name}"
        );
        assert_eq!(read.headers["x-content-type-options"], "nosniff", "{name}");
        let policy = read.headers["content-security-policy"].to_str().expect("text");
        assert!(policy.starts_with("sandbox; default-src 'none'"), "{name}: {policy}");
    }
}
