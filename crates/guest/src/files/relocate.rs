//! Moving to another name or directory.

use rustix::fs::{AtFlags, RenameFlags, renameat_with, statat};
use warren_guest_api::{ErrorCode, FileStat, GuestError, MoveRequest};

use super::{Roots, check_look, file_stat};
use crate::failure::file_error;

/// Gives something another place beneath the same root, in one step. Nothing is replaced; a link is moved as what it is.
pub(crate) fn relocate(roots: &Roots, request: &MoveRequest) -> Result<FileStat, GuestError> {
    let MoveRequest { from, to, expected } = request;
    if from.root != to.root {
        return Err(GuestError::new(ErrorCode::InvalidRequest, "a move stays beneath its root"));
    }
    let failed = |errno| file_error(&format!("move `{}` to `{}`", from.path, to.path), errno);
    let (source, name) = roots.open_parent(from)?;
    check_look(&source, name, from, *expected)?;
    // Before directories are made for it: nothing is left of a move that comes to nothing.
    let stat = statat(&source, name, AtFlags::SYMLINK_NOFOLLOW).map_err(failed)?;
    let (target, new_name) = roots.make_parent(to)?;
    renameat_with(&source, name, &target, new_name, RenameFlags::NOREPLACE).map_err(failed)?;
    Ok(file_stat(&stat))
}
