//! The committed OpenAPI document is the one that a server gives out.
#![allow(clippy::disallowed_methods, reason = "a test may be told to rewrite the file")]

use std::{env, fs, path::Path};

#[test]
fn the_committed_document_is_what_would_be_generated() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/openapi.json");
    let document = warren_wire::openapi(env!("CARGO_PKG_VERSION"));
    let text = serde_json::to_string_pretty(&document).expect("a document is JSON") + "\n";
    if env::var_os("UPDATE_FIXTURES").is_some() {
        fs::write(&path, &text).expect("the document is written");
    }
    let committed = fs::read_to_string(&path).unwrap_or_default();
    assert!(committed == text, "docs/openapi.json has drifted; UPDATE_FIXTURES=1 rewrites it");
}
