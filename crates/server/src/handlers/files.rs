//! A session's files.

use axum::http::{StatusCode, header};
use tokio_util::io::StreamReader;
use warren_domain::{ErrorCode, SessionId, Timestamp, Version};
use warren_runtime::api::{
    self, DocumentAt, Expected, FileEntry, FileKind, FileTag, FileWrite, FilesFrom, UnsavedChange,
};
use warren_wire::{FileChangeItem, FileChanges, FileItem, FileListing, FileMove, FileSource, Uploaded};

use super::{sessions::limit, versions::DEFAULT_CHANGES};
use crate::{
    archive,
    choke::Call,
    convert,
    failure::Failure,
    file_answer::{self, Shown, etag},
    form::Form,
    respond::{self, Answer},
    upload::{self, Upload, is_user_input},
};

pub(crate) async fn list(call: Call) -> Answer {
    let listing = call.runtime().files().file_list(call.session()?, path(&call)).await?;
    let source = match listing.from {
        FilesFrom::Live => FileSource::Live,
        FilesFrom::Version => FileSource::Version,
    };
    let mut entries: Vec<_> = listing.entries.into_iter().map(item).collect();
    entries.sort_by(|a, b| (a.kind != "directory", &a.name).cmp(&(b.kind != "directory", &b.name)));
    respond::ok(&FileListing { path: listing.path, source, entries, truncated: listing.is_truncated })
}

pub(crate) async fn changes(call: Call) -> Answer {
    let limit = limit(&call, DEFAULT_CHANGES) as usize;
    let found = call.runtime().version_files().unsaved_changes(call.session()?).await?;
    let after = call.query().text("cursor");
    let mut rest =
        found.changes.into_iter().filter(|one| after.is_none_or(|after| one.path.as_str() > after));
    let changes: Vec<_> = rest.by_ref().take(limit).map(change).collect();
    let last = changes.last().map(|last| last.path.clone());
    let next_cursor = last.filter(|_| rest.next().is_some());
    respond::ok(&FileChanges { version: found.version, changes, next_cursor })
}

fn change(found: UnsavedChange) -> FileChangeItem {
    FileChangeItem { path: found.path, change: found.change, moved_from: found.moved_from }
}

pub(crate) async fn read(call: Call) -> Answer {
    let session = call.session()?;
    file_answer::answer(call.runtime(), session, path(&call), call.headers(), Shown::OnOurOrigin).await
}

/// A document as PDF.
pub(crate) async fn convert(call: Call) -> Answer {
    let document =
        DocumentAt { path: path(&call).to_owned(), version: call.query().number("version").map(Version) };
    let converted = call.runtime().documents().document_convert(call.session()?, document).await?;
    file_answer::converted(converted, call.headers())
}

pub(crate) async fn archive(call: Call) -> Answer {
    let (session, path) = (call.session()?, path(&call).to_owned());
    archive::answer(call.app().clone(), session, path).await
}

/// Replaces a file as soon as all of it has come, if `If-Match` then still names what is there. `If-None-Match: *` makes
/// only new ones.
pub(crate) async fn put(call: Call) -> Answer {
    let session = call.session()?;
    let path = path(&call).to_owned();
    let how = how(&call, session, &path).await?;
    let is_new_only = how == FileWrite::New;
    let written = write(&call, session, &path, how).await.map_err(|failure| match failure.code {
        // What is there already is what the caller said it would not be.
        ErrorCode::Conflict if is_new_only => failure.told_as(ErrorCode::PreconditionFailed),
        _ => failure,
    })?;
    let tag = etag(&written);
    let mut response = respond::ok(&item(written))?;
    if let Ok(tag) = tag.parse() {
        response.headers_mut().insert(header::ETAG, tag);
    }
    Ok(response)
}

async fn write(call: &Call, session: SessionId, path: &str, how: FileWrite) -> Result<FileEntry, Failure> {
    let body = call.take_stream()?;
    if is_user_input(path) {
        return upload::put(call.app().clone(), session, path, how, body).await;
    }
    let source = Box::new(StreamReader::new(body));
    Ok(call.runtime().files().file_write(session, path, how, source).await?)
}

pub(crate) async fn remove(call: Call) -> Answer {
    call.runtime().files().file_remove(call.session()?, path(&call), expected(&call)).await?;
    respond::nothing()
}

/// Moves a file or a directory, if `If-Match` names what it is.
pub(crate) async fn relocate(call: Call) -> Answer {
    let FileMove { from, to } = call.json()?;
    let moved = api::FileMove { from, to, expected: expected(&call) };
    respond::ok(&item(call.runtime().files().file_move(call.session()?, moved).await?))
}

pub(crate) async fn make_directory(call: Call) -> Answer {
    respond::ok(&item(call.runtime().files().directory_make(call.session()?, path(&call)).await?))
}

pub(crate) async fn upload(call: Call) -> Answer {
    let directory = call.query().text("path").unwrap_or("/user-input").to_owned();
    let files = take_upload(&call, directory).await?;
    respond::json(StatusCode::CREATED, &Uploaded { files: files.into_iter().map(item).collect() })
}

/// Puts the files of an archive into the workspace.
pub(crate) async fn import(call: Call) -> Answer {
    let archive = Box::new(StreamReader::new(call.take_stream()?));
    let made = call.runtime().files().workspace_import(call.session()?, archive).await?;
    respond::ok(&convert::versions::detail(made))
}

/// Takes the form that is the body: all its files, or none.
pub(super) async fn take_upload(call: &Call, directory: String) -> Result<Vec<FileEntry>, Failure> {
    let form = Form::of(call)?;
    Upload::begin(call.app().clone(), call.session()?, directory).await?.take(form).await
}

fn path(call: &Call) -> &str {
    call.query().text("path").unwrap_or_default()
}

async fn how(call: &Call, session: SessionId, path: &str) -> Result<FileWrite, Failure> {
    if call.header("if-none-match").is_some_and(|value| value.trim() == "*") {
        return Ok(FileWrite::New);
    }
    match call.header("if-match").map(str::trim) {
        None => Ok(FileWrite::Replace),
        // Anything that is there: it must be.
        Some("*") => {
            let found = call.runtime().files().file_stat(session, path).await;
            found.map(|_| FileWrite::Replace).map_err(|_| {
                Failure::new(ErrorCode::PreconditionFailed, "there is no such file")
                    .hint("leave `If-Match` out")
            })
        }
        Some(list) => Ok(FileWrite::If(tags(list))),
    }
}

/// The precondition for deleting or moving a file.
fn expected(call: &Call) -> Expected {
    match call.header("if-match").map(str::trim) {
        None | Some("*") => Expected::Anything,
        Some(list) => Expected::OneOf(tags(list)),
    }
}

/// The states that a list names.
fn tags(list: &str) -> Vec<FileTag> {
    let bare = |tag: &str| FileTag(tag.trim().trim_start_matches("W/").trim_matches('"').to_owned());
    list.split(',').map(bare).collect()
}

/// One thing in a directory as clients see it.
pub(crate) fn item(entry: FileEntry) -> FileItem {
    let kind = match entry.kind {
        FileKind::File => "file",
        FileKind::Directory => "directory",
        FileKind::Symlink => "symlink",
        FileKind::Other => "other",
    };
    FileItem {
        name: entry.path.rsplit('/').next().unwrap_or_default().to_owned(),
        kind: kind.to_owned(),
        size_bytes: entry.size_bytes,
        mode: entry.mode,
        modified_at: Timestamp::from_millis(entry.modified_ns / 1_000_000),
        etag: etag(&entry),
        hash: entry.hash,
        path: entry.path,
    }
}
