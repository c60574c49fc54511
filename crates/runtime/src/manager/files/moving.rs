//! What people do to places rather than to content: files and directories are moved, and directories made.

use warren_domain::{ErrorCode, FileChange, SessionId};
use warren_guest_api::{ErrorCode as GuestCode, FileKind as GuestKind, FileStat, MoveRequest};
use warren_sandbox::CallError;

use super::{entry, invalid, look_of, refused};
use crate::{
    api::{FileEntry, FileMove, SessionError},
    manager::SessionManager,
    session::ByHand,
    volumes::{Volume, VolumePath},
};

impl SessionManager {
    /// Moves within a volume: between two of them nothing could be moved at once, and what is uploaded is counted.
    pub(super) async fn relocate(
        &self,
        session: SessionId,
        moved: FileMove,
    ) -> Result<FileEntry, SessionError> {
        let (from, to) = (VolumePath::parse(&moved.from)?, VolumePath::parse(&moved.to)?);
        check_ways(&from, &to)?;
        let (guest, source) = self.writable(session, &from).await?;
        let (_, target) = self.writable(session, &to).await?;
        let found = guest.stat(source.clone()).await.map_err(|error| refused(&from, error))?;
        self.check_target(&from, &to, found)?;
        let expected = look_of(&guest, &from, &source, &moved.expected).await?;
        let request = MoveRequest { from: source, to: target, expected };
        let stat = guest.relocate(request).await.map_err(|error| not_moved(&from, &to, error))?;
        let written = entry(to.shown(), stat);
        let gone = ByHand { place: from, change: FileChange::Deleted, stat: None };
        self.changed_by_hand(session, gone).await?;
        let there = ByHand { place: to, change: FileChange::Created, stat: Some(stat) };
        self.changed_by_hand(session, there).await?;
        Ok(written)
    }

    pub(super) async fn make_directory(
        &self,
        session: SessionId,
        path: &str,
    ) -> Result<FileEntry, SessionError> {
        let place = VolumePath::parse(path)?;
        // As if something were in it: what is uploaded into it must be counted, and be in versions.
        self.check_place(&place.join("file"))?;
        let (guest, at) = self.writable(session, &place).await?;
        let before = guest.stat(at.clone()).await;
        guest.mkdir(at.clone()).await.map_err(|error| not_made(&place, error))?;
        let stat = guest.stat(at).await.map_err(|error| refused(&place, error))?;
        if before.is_err() {
            let made = ByHand { place: place.clone(), change: FileChange::Created, stat: Some(stat) };
            self.changed_by_hand(session, made).await?;
        }
        Ok(entry(place.shown(), stat))
    }

    /// Whether this may be where something goes.
    fn check_target(&self, from: &VolumePath, to: &VolumePath, found: FileStat) -> Result<(), SessionError> {
        if found.kind != GuestKind::Directory {
            return self.check_place(to);
        }
        self.check_place(&to.join("file"))?;
        let depth = |place: &VolumePath| place.path.split('/').count();
        // How deep it is inside is not known, and nothing may be too deep there to be counted.
        if to.volume == Volume::UserInput && depth(to) > depth(from) {
            let message = format!("`{}` would be nested too deeply in `/user-input`", from.shown());
            return Err(invalid(ErrorCode::BadRequest, message));
        }
        Ok(())
    }
}

/// Whether a move can lead from one place to the other at all.
fn check_ways(from: &VolumePath, to: &VolumePath) -> Result<(), SessionError> {
    if from.is_volume() || to.is_volume() {
        let place = if from.is_volume() { from } else { to };
        let shown =
            if place.path.is_empty() { "a volume".to_owned() } else { format!("`{}`", place.shown()) };
        return Err(invalid(ErrorCode::BadRequest, format!("{shown} itself cannot be moved or replaced")));
    }
    if from.volume != to.volume {
        return Err(SessionError::Invalid {
            code: ErrorCode::BadRequest,
            message: format!("`{}` and `{}` are in different volumes", from.shown(), to.shown()),
            hint: Some(
                "files cannot be moved between volumes: read the file, write it there, then remove it here"
                    .to_owned(),
            ),
        });
    }
    if to.path.starts_with(&format!("{}/", from.path)) {
        let message = format!("`{}` cannot be moved into itself", from.shown());
        return Err(invalid(ErrorCode::BadRequest, message));
    }
    Ok(())
}

/// A refusal that is about where it goes names that; the others are about what is moved.
fn not_moved(from: &VolumePath, to: &VolumePath, error: CallError) -> SessionError {
    match error.code() {
        Some(GuestCode::AlreadyExists) => SessionError::Invalid {
            code: ErrorCode::Conflict,
            message: format!("`{}` already exists", to.shown()),
            hint: Some("choose another name, or remove that one first".to_owned()),
        },
        Some(GuestCode::WrongKind) => not_made(to, error),
        Some(GuestCode::PathEscapes | GuestCode::InvalidRequest) => refused(to, error),
        _ => refused(from, error),
    }
}

fn not_made(place: &VolumePath, error: CallError) -> SessionError {
    match error.code() {
        Some(GuestCode::WrongKind) => SessionError::Invalid {
            code: ErrorCode::Conflict,
            message: format!("a parent of `{}` exists and is not a directory", place.shown()),
            hint: Some("choose another name, or remove that file first".to_owned()),
        },
        _ => refused(place, error),
    }
}

#[cfg(test)]
mod tests {
    use super::check_ways;
    use crate::volumes::VolumePath;

    #[test]
    fn a_move_stays_in_its_volume_and_out_of_itself() {
        let way = |from: &str, to: &str| {
            let place = |path: &str| VolumePath::parse(path).expect("a path");
            check_ways(&place(from), &place(to)).is_ok()
        };
        for (from, to) in
            [("a", "b"), ("a", "ab/c"), ("/user-input/a", "/user-input/b/c"), ("outputs/a", "/outputs/b")]
        {
            assert!(way(from, to), "{from} to {to}");
        }
        for (from, to) in [
            ("a", "a/b"),
            ("a", "/user-input/a"),
            ("/user-input/a", "a"),
            ("a", "/knowledge/a"),
            ("", "a"),
            ("a", ""),
            ("outputs", "out"),
            ("a", "/outputs"),
        ] {
            assert!(!way(from, to), "{from} to {to}");
        }
    }
}
