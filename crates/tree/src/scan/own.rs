//! What its own user has shut: opened for as long as it takes to read it.
//!
//! A scan that runs as the user whose files these are cannot read what that user took the permission from, and yet it is to
//! be kept. Nothing is opened but what belongs to the user, and no link is followed to it.

use std::os::fd::{AsFd, AsRawFd, OwnedFd};

use rustix::{
    fs::{CWD, FileType, Mode, OFlags, chmodat, fstat, openat},
    io::Errno,
    process::geteuid,
};

/// Something that was opened, and what its mode was. It is given back when this is dropped.
pub(super) struct Opened {
    at: OwnedFd,
    mode: Mode,
}

impl Opened {
    /// Lets its user read something. Fails as an attempt to read it would if it is not the user's, or something else.
    pub(super) fn open(parent: impl AsFd, name: &[u8], kind: FileType) -> Result<Self, Errno> {
        let at = openat(parent, name, OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC, Mode::empty())?;
        let stat = fstat(&at)?;
        if stat.st_uid != geteuid().as_raw() || FileType::from_raw_mode(stat.st_mode) != kind {
            return Err(Errno::ACCESS);
        }
        let mode = Mode::from_raw_mode(stat.st_mode & 0o7777);
        let wanted = if kind == FileType::Directory { Mode::RUSR | Mode::XUSR } else { Mode::RUSR };
        let opened = Self { at, mode };
        opened.become_mode(mode | wanted)?;
        Ok(opened)
    }

    /// By its descriptor: what the name stands for by now makes no difference.
    fn become_mode(&self, mode: Mode) -> Result<(), Errno> {
        let path = format!("/proc/self/fd/{}", self.at.as_raw_fd());
        chmodat(CWD, path, mode, rustix::fs::AtFlags::empty())
    }
}

impl Drop for Opened {
    fn drop(&mut self) {
        // It belongs to us and is open: this does not fail, and nobody could do anything if it did.
        _ = self.become_mode(self.mode);
    }
}
