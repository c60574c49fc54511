//! The installed LibreOffice. A machine without one skips these; in CI that is a failure.

use std::{
    io::{Read as _, Write as _},
    path::{Path, PathBuf},
};

use flate2::{Compression, read::ZlibDecoder, write::DeflateEncoder};
use reqwest::StatusCode;
use tokio::net::TcpListener;
use warren_testkit::{Setup, TestServer};

use super::{convert, put, refusal};

/// A server with the installed LibreOffice, where there is one.
#[expect(clippy::disallowed_methods, clippy::print_stdout, reason = "the test run says so by variables")]
async fn server() -> Option<TestServer> {
    let is_there = Path::new("/usr/lib/libreoffice/program/soffice").exists();
    if !is_there {
        let required = std::env::var_os("WARREN_TEST_REQUIRE").is_some();
        assert!(!required, "WARREN_TEST_REQUIRE is set, but LibreOffice is not installed");
        println!("skipped: LibreOffice is not installed");
        return None;
    }
    Some(Setup::new().config("[documents]\nlibreoffice = 'auto'\ntimeout_seconds = 240").start().await)
}

fn document(name: &str) -> Vec<u8> {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../web/e2e/documents").join(name);
    std::fs::read(&path).expect("a document")
}

/// How many pages a PDF has: `/Type/Page`, and not `/Type/Pages`.
fn pages(pdf: &[u8]) -> usize {
    let text = String::from_utf8_lossy(pdf);
    text.matches("/Type/Page").count() - text.matches("/Type/Pages").count()
}

/// All that is in the streams of a PDF, unpacked: what pages show, pictures, names.
fn content(pdf: &[u8]) -> Vec<u8> {
    let mut all = pdf.to_vec();
    let mut rest = pdf;
    while let Some(at) = rest.windows(7).position(|window| window == b"stream\n") {
        rest = &rest[at + 7..];
        // What is no stream of this kind gives nothing.
        _ = ZlibDecoder::new(rest).read_to_end(&mut all);
    }
    all
}

#[tokio::test]
async fn libreoffice_converts_texts_slides_and_sheets() {
    let Some(server) = server().await else { return };
    let client = server.admin();
    let session = client.session_create().await;
    // How long a text is depends on the fonts of the machine; slides and a small sheet do not.
    let expected =
        [("python-report.docx", 2..=4), ("python-deck.pptx", 5..=5), ("libreoffice-sums.xlsx", 1..=1)];
    for (name, n_pages) in expected {
        put(&client, session, name, document(name)).await;
        let (status, headers, pdf) = convert(&client, session, name).await;
        assert_eq!(status, StatusCode::OK, "{name}: {}", String::from_utf8_lossy(&pdf));
        let by = headers["x-warren-converter"].to_str().expect("a name");
        assert!(by.starts_with("LibreOffice ") && by.len() > "LibreOffice ".len(), "{by}");
        assert!(n_pages.contains(&pages(&pdf)), "{name} has {} pages", pages(&pdf));
    }
    let broken = [document("python-report.docx")[..9_000].to_vec(), vec![0; 9_000]].concat();
    put(&client, session, "broken.docx", broken).await;
    let (status, code, message) = refusal(&client, session, "broken.docx").await;
    assert_eq!((status, code.as_str()), (422, "CONVERSION_FAILED"), "{message}");
}

/// A zip of packed texts.
fn zip(files: &[(&str, String)]) -> Vec<u8> {
    let (mut out, mut table) = (Vec::new(), Vec::new());
    for (name, text) in files {
        let mut encoder = DeflateEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(text.as_bytes()).expect("packed");
        let packed = encoder.finish().expect("packed");
        let mut crc = flate2::Crc::new();
        crc.update(text.as_bytes());
        let at = u32::try_from(out.len()).expect("short");
        let length = |n: usize| u32::try_from(n).expect("short").to_le_bytes();
        let name_length = u16::try_from(name.len()).expect("short").to_le_bytes();
        let mut shared = vec![20, 0, 0, 0, 8, 0, 0, 0, 0, 0];
        shared.extend(crc.sum().to_le_bytes());
        shared.extend([length(packed.len()), length(text.len())].concat());
        shared.extend(name_length);
        out.extend([b"PK\x03\x04".as_slice(), &shared, &[0, 0], name.as_bytes(), &packed].concat());
        table.extend(
            [b"PK\x01\x02\x14\x00".as_slice(), &shared, &[0; 12], &at.to_le_bytes(), name.as_bytes()]
                .concat(),
        );
    }
    let (n, at, size) = (files.len() as u16, out.len() as u32, table.len() as u32);
    out.extend(table);
    out.extend([b"PK\x05\x06\0\0\0\0".as_slice(), &n.to_le_bytes(), &n.to_le_bytes()].concat());
    out.extend([size.to_le_bytes(), at.to_le_bytes()].concat());
    out.extend([0, 0]);
    out
}

/// A text that includes other texts and pictures, and runs a macro when it is opened.
fn hostile(port: u16) -> Vec<u8> {
    const SPACES: &str = r#"xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0" xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0" xmlns:draw="urn:oasis:names:tc:opendocument:xmlns:drawing:1.0" xmlns:xlink="http://www.w3.org/1999/xlink" xmlns:svg="urn:oasis:names:tc:opendocument:xmlns:svg-compatible:1.0" xmlns:script="urn:oasis:names:tc:opendocument:xmlns:script:1.0" xmlns:ooo="http://openoffice.org/2004/office""#;
    let section = |name: &str, href: &str| {
        format!(
            r#"<text:section text:name="{name}"><text:section-source xlink:href="{href}" text:filter-name="Text"/><text:p>before</text:p></text:section>"#
        )
    };
    let content = format!(
        r#"<?xml version="1.0" encoding="UTF-8"?><office:document-content {SPACES} office:version="1.2">
<office:scripts><office:event-listeners><script:event-listener script:language="ooo:script" script:event-name="dom:load" xlink:href="vnd.sun.star.script:Standard.Module1.Main?language=Basic&amp;location=document" xlink:type="simple"/></office:event-listeners></office:scripts>
<office:body><office:text><text:p>Visible words</text:p>{}{}{}
<text:p><draw:frame svg:width="3cm" svg:height="3cm"><draw:image xlink:href="http://127.0.0.1:{port}/picture.png" xlink:type="simple"/></draw:frame></text:p>
</office:text></office:body></office:document-content>"#,
        section("A", "file:///etc/passwd"),
        section("B", &format!("http://127.0.0.1:{port}/text")),
        section("C", "file:///proc/self/environ"),
    );
    let library = r#"<?xml version="1.0"?><library:library xmlns:library="http://openoffice.org/2000/library" library:name="Standard" library:readonly="false" library:passwordprotected="false"><library:element library:name="Module1"/></library:library>"#;
    let libraries = r#"<?xml version="1.0"?><library:libraries xmlns:library="http://openoffice.org/2000/library" xmlns:xlink="http://www.w3.org/1999/xlink"><library:library library:name="Standard" library:link="false"/></library:libraries>"#;
    let module = r#"<?xml version="1.0"?><script:module xmlns:script="http://openoffice.org/2000/script" script:name="Module1" script:language="StarBasic">Sub Main
ThisComponent.Text.String = "THE MACRO RAN"
End Sub</script:module>"#;
    let manifest = r#"<?xml version="1.0"?><manifest:manifest xmlns:manifest="urn:oasis:names:tc:opendocument:xmlns:manifest:1.0" manifest:version="1.2"><manifest:file-entry manifest:full-path="/" manifest:media-type="application/vnd.oasis.opendocument.text"/><manifest:file-entry manifest:full-path="content.xml" manifest:media-type="text/xml"/><manifest:file-entry manifest:full-path="Basic/script-lc.xml" manifest:media-type="text/xml"/><manifest:file-entry manifest:full-path="Basic/Standard/script-lb.xml" manifest:media-type="text/xml"/><manifest:file-entry manifest:full-path="Basic/Standard/Module1.xml" manifest:media-type="text/xml"/></manifest:manifest>"#;
    zip(&[
        ("mimetype", "application/vnd.oasis.opendocument.text".to_owned()),
        ("content.xml", content),
        ("META-INF/manifest.xml", manifest.to_owned()),
        ("Basic/script-lc.xml", libraries.to_owned()),
        ("Basic/Standard/script-lb.xml", library.to_owned()),
        ("Basic/Standard/Module1.xml", module.to_owned()),
    ])
}

#[tokio::test]
async fn hostile_document_reaches_no_file_no_network_and_runs_no_macro() {
    let Some(server) = server().await else { return };
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a listener");
    let port = listener.local_addr().expect("an address").port();
    let client = server.admin();
    let session = client.session_create().await;
    put(&client, session, "hostile.odt", hostile(port)).await;
    put(&client, session, "harmless.odt", hostile_without_links()).await;
    let converted = tokio::select! {
        converted = async { (convert(&client, session, "hostile.odt").await, convert(&client, session, "harmless.odt").await) } => converted,
        _ = listener.accept() => panic!("the document reached the network"),
    };
    let ((status, _, pdf), (_, _, harmless)) = converted;
    assert_eq!(status, StatusCode::OK, "{}", String::from_utf8_lossy(&pdf));
    assert_eq!(pages(&pdf), 1);
    // Letters of a PDF are numbers of its own font. What the fonts have tells which letters are on the page: the text of
    // `passwd`, of the environment or of the macro would need more of them than the words of the document itself.
    let letters = |pdf: &[u8]| {
        let content = String::from_utf8_lossy(&content(pdf)).into_owned();
        let maps: Vec<_> = content
            .lines()
            .filter(|line| line.starts_with('<') && line.contains("> <"))
            .map(str::to_owned)
            .collect();
        maps
    };
    assert_eq!(letters(&pdf), letters(&harmless), "the page has the words of the document alone");
}

/// The same words, and nothing else.
fn hostile_without_links() -> Vec<u8> {
    let content = r#"<?xml version="1.0" encoding="UTF-8"?><office:document-content xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0" xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0" office:version="1.2"><office:body><office:text><text:p>Visible words</text:p><text:p>before</text:p></office:text></office:body></office:document-content>"#;
    let manifest = r#"<?xml version="1.0"?><manifest:manifest xmlns:manifest="urn:oasis:names:tc:opendocument:xmlns:manifest:1.0" manifest:version="1.2"><manifest:file-entry manifest:full-path="/" manifest:media-type="application/vnd.oasis.opendocument.text"/><manifest:file-entry manifest:full-path="content.xml" manifest:media-type="text/xml"/></manifest:manifest>"#;
    zip(&[
        ("mimetype", "application/vnd.oasis.opendocument.text".to_owned()),
        ("content.xml", content.to_owned()),
        ("META-INF/manifest.xml", manifest.to_owned()),
    ])
}
