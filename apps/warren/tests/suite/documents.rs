//! Documents converted to PDF, through the whole server and real sandboxes.
//!
//! Most tests bring a LibreOffice of their own, a script that does what the test is about; `real` uses the installed one.

mod real;

use std::{fs, os::unix::fs::PermissionsExt as _, path::Path};

use bytes::Bytes;
use reqwest::{Method, StatusCode, header::HeaderMap};
use serde_json::{Value, json};
use tempfile::TempDir;
use warren_domain::SessionId;
use warren_testkit::{Setup, TestClient, TestServer};

/// What every document in a zip begins with; enough for a script that reads nothing else.
const ZIP: &[u8] = b"PK\x03\x04 a document";
/// The last argument is the document; the PDF goes where LibreOffice would put it.
const CONVERTS: &str =
    "for document; do :; done\n{ printf '%%PDF-1.4 of '; cat \"$document\"; } > /workspace/document.pdf\n";

/// A program in the place of LibreOffice.
fn office(script: &str) -> TempDir {
    let root = tempfile::tempdir().expect("a directory");
    fs::set_permissions(root.path(), fs::Permissions::from_mode(0o755)).expect("a mode");
    fs::create_dir_all(root.path().join("program")).expect("a directory");
    fs::create_dir_all(root.path().join("share/registry")).expect("a directory");
    let settings = "<prop oor:name=\"ooSetupVersionAboutBox\"><value>1.2.3</value></prop>";
    fs::write(root.path().join("share/registry/main.xcd"), settings).expect("a file");
    write_script(root.path(), script);
    root
}

fn write_script(root: &Path, script: &str) {
    let program = root.join("program/soffice");
    fs::write(&program, format!("#!/bin/sh\n{script}")).expect("a file");
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).expect("a mode");
}

async fn start(office: &Path) -> TestServer {
    let config =
        format!("[documents]\nlibreoffice = {:?}\ntimeout_seconds = 5", office.display().to_string());
    Setup::new().config(&config).start().await
}

async fn put(client: &TestClient, session: SessionId, path: &str, content: impl Into<Vec<u8>>) {
    let path = format!("/api/sessions/{session}/fs?path={path}");
    let put = client.request(Method::PUT, &path).body(content.into());
    client.send(put).await.expect(StatusCode::OK);
}

/// Status, headers and body of a conversion.
async fn convert(client: &TestClient, session: SessionId, query: &str) -> (StatusCode, HeaderMap, Bytes) {
    let path = format!("/api/sessions/{session}/fs/convert?path={query}");
    let response = client.request(Method::GET, &path).send().await.expect("an answer");
    let (status, headers) = (response.status(), response.headers().clone());
    (status, headers, response.bytes().await.expect("a whole body"))
}

/// The refusal of a conversion: status, code, message, and whether there is a hint.
async fn refusal(client: &TestClient, session: SessionId, query: &str) -> (u16, String, String) {
    let (status, _, body) = convert(client, session, query).await;
    let problem: Value = serde_json::from_slice(&body).expect("a problem");
    assert!(problem["hint"].is_string(), "{problem:#}");
    let text = |field: &str| problem[field].as_str().unwrap_or_default().to_owned();
    (status.as_u16(), text("code"), text("detail"))
}

#[tokio::test]
async fn document_is_converted_once_and_served_as_a_harmless_pdf() {
    let office = office(&format!("echo x >> /tmp/x; {CONVERTS}"));
    let server = start(office.path()).await;
    let client = server.admin();
    let session = client.session_create().await;
    put(&client, session, "a%20b/report.docx", ZIP).await;
    let (status, headers, body) = convert(&client, session, "a%20b/report.docx&to=pdf").await;
    assert_eq!((status, &body[..]), (StatusCode::OK, b"%PDF-1.4 of PK\x03\x04 a document".as_slice()));
    let header = |name: &str| headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default();
    assert_eq!(header("content-type"), "application/pdf");
    assert_eq!(header("x-content-type-options"), "nosniff");
    assert!(header("content-security-policy").starts_with("sandbox; default-src 'none'"));
    assert_eq!(header("x-warren-converter"), "LibreOffice 1.2.3");
    assert_eq!(header("content-length"), body.len().to_string());

    // The same document, wherever it is, is not converted again: this program would fail.
    write_script(office.path(), "exit 1\n");
    put(&client, session, "copy.docx", ZIP).await;
    let (status, again, copy) = convert(&client, session, "copy.docx").await;
    assert_eq!((status, &copy), (StatusCode::OK, &body));
    assert_eq!(again.get("etag"), headers.get("etag"));
    let known = client
        .request(Method::GET, &format!("/api/sessions/{session}/fs/convert?path=copy.docx"))
        .header("if-none-match", header("etag"));
    assert_eq!(client.send(known).await.status, StatusCode::NOT_MODIFIED);

    // It goes with its session, and so do the conversion's own directories.
    let kept = server.directory().join("sessions").join(session.to_string()).join("converted");
    assert_eq!(fs::read_dir(&kept).expect("kept").count(), 1);
    let work = server.directory().join("conversions");
    let left: Vec<_> =
        fs::read_dir(&work).expect("there").map(|it| it.expect("an entry").file_name()).collect();
    assert_eq!(left, ["incoming"], "nothing of a conversion is left");
    assert_eq!(fs::read_dir(work.join("incoming")).expect("there").count(), 0);
    client.delete(&format!("/api/sessions/{session}")).await.expect(StatusCode::NO_CONTENT);
    assert!(!kept.exists());
}

#[tokio::test]
async fn document_of_a_version_is_converted_as_it_was_then() {
    let office = office(CONVERTS);
    let server = start(office.path()).await;
    let client = server.admin();
    let session = client.session_create().await;
    client.run(session, "run: printf 'PK\\003\\004 first' > a.odt").await;
    client.run(session, "run: printf 'PK\\003\\004 second' > a.odt").await;
    let (_, _, then) = convert(&client, session, "a.odt&version=1").await;
    let (_, _, now) = convert(&client, session, "a.odt").await;
    assert_eq!(
        [&then[..], &now[..]],
        [b"%PDF-1.4 of PK\x03\x04 first".as_slice(), b"%PDF-1.4 of PK\x03\x04 second"]
    );
    let (status, code, _) = refusal_without_hint(&client, session, "a.odt&version=99").await;
    assert_eq!((status, code.as_str()), (404, "NOT_FOUND"));
}

async fn refusal_without_hint(client: &TestClient, session: SessionId, query: &str) -> (u16, String, Value) {
    let (status, _, body) = convert(client, session, query).await;
    let problem: Value = serde_json::from_slice(&body).expect("a problem");
    (status.as_u16(), problem["code"].as_str().unwrap_or_default().to_owned(), problem)
}

#[tokio::test]
async fn conversion_sees_its_document_alone_and_neither_network_nor_host() {
    // What the program can see and do is its PDF.
    let script = "{ printf '%%PDF-'; id -u; cat /etc/passwd; ls /opt/document /workspace /home/agent /etc; \
        cat /proc/net/dev | tail -n +3; (echo x > /opt/document/x) 2>/dev/null && echo WROTE; \
        (echo x > /opt/libreoffice/x) 2>/dev/null && echo WROTE; env; } > /workspace/document.pdf\n";
    let office = office(script);
    let server = start(office.path()).await;
    let client = server.admin();
    let session = client.session_create().await;
    put(&client, session, "secret.txt", "of the session").await;
    put(&client, session, "a.docx", ZIP).await;
    let (status, _, body) = convert(&client, session, "a.docx").await;
    let seen = String::from_utf8_lossy(&body);
    assert_eq!(status, StatusCode::OK, "{seen}");
    let lines: Vec<&str> = seen.lines().collect();
    assert_eq!(&lines[..2], ["%PDF-1000", "agent:x:1000:1000:agent:/home/agent:/bin/bash"]);
    assert!(lines.contains(&"document.docx") && !seen.contains("secret.txt"), "{seen}");
    assert!(!seen.contains("WROTE"), "{seen}");
    let interfaces: Vec<_> =
        lines.iter().filter(|line| line.contains(": ") && line.contains(" 0 ")).collect();
    assert!(interfaces.iter().all(|line| line.trim_start().starts_with("lo:")), "{seen}");
    assert!(!seen.contains(&server.directory().display().to_string()) && !seen.contains("WARREN"), "{seen}");
}

#[tokio::test]
async fn failed_conversion_says_why_and_is_not_repeated_at_once() {
    let office = office("exit 3\n");
    let server = start(office.path()).await;
    let client = server.admin();
    let session = client.session_create().await;
    for (path, content) in
        [("a.docx", ZIP), ("page.docx", b"<html>"), ("notes.txt", b"text"), ("b.docx", b"PK\x03\x04 b")]
    {
        put(&client, session, path, content).await;
    }
    let told = |status, code: &str, message: &str| (status, code.to_owned(), message.to_owned());
    let failed = told(422, "CONVERSION_FAILED", "LibreOffice cannot read the document (exit code 3)");
    assert_eq!(refusal(&client, session, "a.docx").await, failed);
    let not_one = "`page.docx` is not what its name says: it does not begin like a `.docx` file";
    assert_eq!(refusal(&client, session, "page.docx").await, told(422, "CONVERSION_FAILED", not_one));
    let no_document = "`notes.txt` is no document that can be converted";
    assert_eq!(refusal(&client, session, "notes.txt").await, told(400, "BAD_REQUEST", no_document));
    let (status, code, _) = refusal_without_hint(&client, session, "gone.docx").await;
    assert_eq!((status, code.as_str()), (404, "NOT_FOUND"));
    // It would succeed now, but is remembered; another document is tried.
    write_script(office.path(), CONVERTS);
    assert_eq!(refusal(&client, session, "a.docx").await, failed);
    assert_eq!(convert(&client, session, "b.docx").await.0, StatusCode::OK);
}

#[tokio::test]
async fn conversion_that_never_ends_or_writes_without_end_is_cut() {
    let office = office(
        "case \"$*\" in *odt) exec sleep infinity;; *) head -c 200M /dev/zero > /workspace/document.pdf;; esac\n",
    );
    let server = start(office.path()).await;
    let client = server.admin();
    let session = client.session_create().await;
    put(&client, session, "slow.odt", ZIP).await;
    put(&client, session, "huge.docx", ZIP).await;
    let (slow, huge) =
        tokio::join!(refusal(&client, session, "slow.odt"), refusal(&client, session, "huge.docx"));
    let failed = |message: &str| (422, "CONVERSION_FAILED".to_owned(), message.to_owned());
    assert_eq!(slow, failed("the conversion took longer than 5 s"));
    assert_eq!((huge.0, huge.1.as_str()), (422, "CONVERSION_FAILED"), "{}", huge.2);
    let left = || server.processes().into_iter().filter(|process| process.name == "sleep").count();
    assert_eq!(left(), 0, "its processes are gone with it");
}

#[tokio::test]
async fn document_that_is_too_large_is_not_taken() {
    let office = office(CONVERTS);
    let server = start(office.path()).await;
    let client = server.admin();
    let session = client.session_create().await;
    let made = "run: printf 'PK\\003\\004' > big.pptx && truncate -s 65M big.pptx";
    client.run(session, made).await;
    let refused = refusal(&client, session, "big.pptx").await;
    assert_eq!(refused, (413, "TOO_LARGE".to_owned(), "`big.pptx` is larger than 64 MiB".to_owned()));
}

#[tokio::test]
async fn server_without_libreoffice_says_how_to_get_it_and_finds_it_once_it_is_there() {
    let office = office(CONVERTS);
    let away = office.path().with_extension("away");
    fs::rename(office.path().join("program"), &away).expect("moved");
    let server = start(office.path()).await;
    let client = server.admin();
    let session = client.session_create().await;
    put(&client, session, "a.docx", ZIP).await;
    let missing =
        (503, "CONVERTER_MISSING".to_owned(), "LibreOffice is not installed on the server".to_owned());
    assert_eq!(refusal(&client, session, "a.docx").await, missing);
    let found = async || client.get("/api/doctor").await.expect(StatusCode::OK)["documents"].clone();
    let hint = found().await["hint"].as_str().unwrap_or_default().to_owned();
    assert!(hint.contains("apt install") && hint.contains("documents.libreoffice"), "{hint}");
    let doctor = server.command(&["doctor"]).output().await.expect("it runs");
    let doctor = String::from_utf8_lossy(&doctor.stdout).into_owned();
    assert!(doctor.contains("LibreOffice not found: there is no `program/soffice` at"), "{doctor}");

    fs::rename(&away, office.path().join("program")).expect("moved");
    assert_eq!(convert(&client, session, "a.docx").await.0, StatusCode::OK);
    assert_eq!(found().await["converter"], json!("LibreOffice 1.2.3"));
    let at = tempfile::tempdir().expect("a directory");
    let session = session.to_string();
    let mut command = server.command(&["files", "convert", &session, "a.docx", "--to", "pdf"]);
    let output = command.current_dir(at.path()).output().await.expect("it runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(String::from_utf8_lossy(&output.stderr), "a.pdf (converted by LibreOffice 1.2.3)\n");
    let pdf = fs::read(at.path().join("a.pdf")).expect("it is written");
    assert_eq!(pdf, b"%PDF-1.4 of PK\x03\x04 a document");
}
