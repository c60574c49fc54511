//! Gives a new workspace what the template has.

use std::io::Cursor;

use warren_guest_api::{FilePath, Root, WriteHow, WriteRequest};
use warren_sandbox::{CallError, Guest};

use super::files::Seen;
use crate::template::Template;

/// Writes a template into `outputs/`, by the guest: as the workspace's user, beneath its root, through no link.
pub(super) async fn write(guest: &Guest, template: &Template) -> Result<Vec<Seen>, CallError> {
    let place = |path: &str| FilePath::new(Root::Workspace, format!("outputs/{path}"));
    for directory in &template.directories {
        guest.mkdir(place(directory)).await?;
    }
    let mut given = Vec::new();
    for (path, file) in &template.files {
        let at = place(path);
        let seen = at.path.clone();
        let request = WriteRequest { path: at, how: WriteHow::Replace, mode: Some(file.mode) };
        let stat = guest.write(request, Cursor::new(&file.content)).await?;
        given.push(Seen::new(seen, stat));
    }
    Ok(given)
}
