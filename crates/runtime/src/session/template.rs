//! Gives a new workspace what the template has.

use std::io::Cursor;

use futures::{StreamExt as _, TryStreamExt as _, stream};
use warren_guest_api::{FilePath, Root, WriteHow, WriteRequest};
use warren_sandbox::{CallError, Guest};

use super::files::Seen;
use crate::template::Template;

/// Files that are written at a time: each is a question and an answer, and the first message waits for them.
const AT_ONCE: usize = 8;

/// Writes a template into `outputs/`, by the guest: as the workspace's user, beneath its root, through no link.
pub(super) async fn write(guest: &Guest, template: &Template) -> Result<Vec<Seen>, CallError> {
    let place = |path: &str| FilePath::new(Root::Workspace, format!("outputs/{path}"));
    for directory in &template.directories {
        guest.mkdir(place(directory)).await?;
    }
    let writing: Vec<_> = template
        .files
        .iter()
        .map(|(path, file)| write_file(guest.clone(), place(path), file.mode, file.content.clone()))
        .collect();
    stream::iter(writing).buffered(AT_ONCE).try_collect().await
}

async fn write_file(guest: Guest, path: FilePath, mode: u32, content: Vec<u8>) -> Result<Seen, CallError> {
    let at = path.path.clone();
    let request = WriteRequest { path, how: WriteHow::Replace, mode: Some(mode) };
    let stat = guest.write(request, Cursor::new(content)).await?;
    Ok(Seen::new(at, stat))
}
