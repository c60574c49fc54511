//! Files in the words of `/api/build`: paths from the root, and `/outputs` where nothing else is said.

use axum::http::StatusCode;
use warren_domain::Timestamp;
use warren_runtime::api::{FileEntry, FileKind, FileListing, FilesFrom, SessionError};
use warren_wire::{BuildFile, BuildFileListing, BuildUploaded};

use crate::{
    choke::Call,
    file_answer::{self, Shown, media_type},
    handlers::files::take_upload,
    respond::{self, Answer},
};

const OUTPUTS: &str = "/outputs";
const USER_INPUT: &str = "/user-input";

pub(crate) async fn files(call: Call) -> Answer {
    let path = asked(&call);
    let listing = match call.runtime().files().file_list(call.session()?, &path).await {
        // Nothing was made yet: a page that shows what is made has nothing to show, and that is no mistake of its.
        Err(SessionError::NotFound { .. }) if path == OUTPUTS => nothing(),
        listing => listing?,
    };
    let mut entries: Vec<_> = listing.entries.into_iter().map(told).collect();
    entries.sort_by(|a, b| (a.kind != "directory", &a.name).cmp(&(b.kind != "directory", &b.name)));
    respond::ok(&BuildFileListing { path: from_root(&listing.path), entries })
}

pub(crate) async fn read(call: Call) -> Answer {
    let path = asked(&call);
    file_answer::answer(call.runtime(), call.session()?, &path, call.headers(), Shown::OnOurOrigin).await
}

pub(crate) async fn upload(call: Call) -> Answer {
    let files = take_upload(&call, USER_INPUT.to_owned()).await?;
    respond::json(StatusCode::CREATED, &BuildUploaded { files: files.into_iter().map(told).collect() })
}

fn asked(call: &Call) -> String {
    absolute(call.query().text("path").unwrap_or_default())
}

/// What a packet calls a path can be asked for as it is: it is seen from `/outputs`, and `../` is the workspace.
fn absolute(path: &str) -> String {
    let path = path.trim_end_matches('/');
    if path.is_empty() {
        return OUTPUTS.to_owned();
    }
    match (path.starts_with('/'), path.strip_prefix("../")) {
        (true, _) => path.to_owned(),
        (false, Some(outside)) => format!("/workspace/{outside}"),
        (false, None) => format!("{OUTPUTS}/{path}"),
    }
}

/// The workspace's own paths are relative to it; here every path begins at the root.
fn from_root(path: &str) -> String {
    if path.starts_with('/') {
        return path.to_owned();
    }
    let is_output = path == "outputs" || path.starts_with("outputs/");
    let place = if is_output { "" } else { "/workspace" };
    format!("{place}/{path}").trim_end_matches('/').to_owned()
}

fn told(entry: FileEntry) -> BuildFile {
    let kind = match entry.kind {
        FileKind::File => "file",
        FileKind::Directory => "directory",
        FileKind::Symlink => "symlink",
        FileKind::Other => "other",
    };
    let is_file = entry.kind == FileKind::File;
    BuildFile {
        name: entry.path.rsplit('/').next().unwrap_or_default().to_owned(),
        path: from_root(&entry.path),
        kind: kind.to_owned(),
        size_bytes: is_file.then_some(entry.size_bytes),
        modified_at: Timestamp::from_millis(entry.modified_ns / 1_000_000),
        mime_type: is_file.then(|| media_type(&entry.path).to_owned()),
    }
}

fn nothing() -> FileListing {
    FileListing { path: OUTPUTS.to_owned(), from: FilesFrom::Live, entries: Vec::new(), is_truncated: false }
}

#[cfg(test)]
mod tests {
    use super::{absolute, from_root};

    #[test]
    fn a_path_is_in_outputs_unless_it_says_otherwise() {
        for (asked, expect) in [
            ("", "/outputs"),
            ("/outputs/", "/outputs"),
            ("web/src/App.tsx", "/outputs/web/src/App.tsx"),
            ("../notes.txt", "/workspace/notes.txt"),
            ("/user-input/a.csv", "/user-input/a.csv"),
            // Not for this function to forgive: the runtime refuses it.
            ("../../etc/passwd", "/workspace/../etc/passwd"),
        ] {
            assert_eq!(absolute(asked), expect, "{asked}");
        }
    }

    #[test]
    fn a_path_is_told_from_the_root() {
        for (path, expect) in [
            ("", "/workspace"),
            ("outputs", "/outputs"),
            ("outputs/web", "/outputs/web"),
            ("outputs.txt", "/workspace/outputs.txt"),
            ("/user-input/a.csv", "/user-input/a.csv"),
        ] {
            assert_eq!(from_root(path), expect, "{path}");
        }
    }
}
