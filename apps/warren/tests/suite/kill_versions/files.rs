//! All files of a version, and all below a directory, byte for byte.

use std::{collections::BTreeMap, path::Path};

use reqwest::{Method, StatusCode};
use warren_domain::SessionId;
use warren_testkit::TestClient;

use crate::suite::versions::of;

/// Contents by path. A link's is where it points to.
pub(in crate::suite) type Files = BTreeMap<String, Vec<u8>>;

/// Where a version has files: the workspace, and what is beside it.
const ROOTS: [&str; 3] = ["", "/user-input", "/home/agent"];

/// Every file of a version, wherever it is. `None` if retention does not keep the version any more.
pub(in crate::suite) async fn contents(
    client: &TestClient,
    session: SessionId,
    version: u64,
) -> Option<Files> {
    let mut all = Files::new();
    let mut waiting: Vec<String> = ROOTS.map(str::to_owned).to_vec();
    while let Some(directory) = waiting.pop() {
        let path = of(session, &format!("versions/{version}/files?path={directory}"));
        let listing = client.get(&path).await;
        if listing.refusal() == (409, "CONFLICT") {
            assert!(is_expired(client, session, version).await, "{path}: {:#}", listing.body);
            return None;
        }
        // A version from before the first run has no home yet.
        if ROOTS[1..].contains(&directory.as_str()) && listing.refusal() == (404, "NOT_FOUND") {
            continue;
        }
        let listing = listing.expect(StatusCode::OK);
        for entry in listing["entries"].as_array().expect("entries") {
            let path = entry["path"].as_str().expect("a path").to_owned();
            match entry["kind"].as_str() {
                Some("directory") => waiting.push(path),
                Some("file") => {
                    let content = file(client, session, version, &path).await?;
                    all.insert(path, content);
                }
                other => panic!("{path} is a {other:?}"),
            }
        }
    }
    Some(all)
}

async fn file(client: &TestClient, session: SessionId, version: u64, path: &str) -> Option<Vec<u8>> {
    let url = of(session, &format!("versions/{version}/file?path={path}"));
    let response = client.request(Method::GET, &url).send().await.expect("the server answers");
    if response.status() == StatusCode::CONFLICT {
        assert!(is_expired(client, session, version).await, "{url}");
        return None;
    }
    assert_eq!(response.status(), StatusCode::OK, "{url}");
    Some(response.bytes().await.expect("the answer is whole").to_vec())
}

async fn is_expired(client: &TestClient, session: SessionId, version: u64) -> bool {
    let record = client.get(&of(session, &format!("versions/{version}"))).await.expect(StatusCode::OK);
    record["expired"] == true
}

/// Every file below a directory, named with `prefix`.
pub(super) fn on_disk(directory: &Path, prefix: &str, found: &mut Files) {
    for entry in std::fs::read_dir(directory).expect("a directory").flatten() {
        let name = format!("{prefix}{}", entry.file_name().to_string_lossy());
        if entry.file_type().expect("a kind").is_dir() {
            on_disk(&entry.path(), &format!("{name}/"), found);
        } else {
            found.insert(name, std::fs::read(entry.path()).expect("a file"));
        }
    }
}
