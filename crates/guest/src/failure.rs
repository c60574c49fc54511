//! What the host is told when the kernel says no.

use std::io;

use rustix::io::Errno;
use warren_guest_api::{ErrorCode, FrameError, GuestError};

/// Why a request came to nothing.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The host is to be told.
    Tell(GuestError),
    /// The host is gone, or has broken the protocol: there is nobody to tell.
    Gone,
}

impl From<GuestError> for Failure {
    fn from(error: GuestError) -> Self {
        Failure::Tell(error)
    }
}

impl From<FrameError> for Failure {
    fn from(_: FrameError) -> Self {
        Failure::Gone
    }
}

/// An error of a file operation, told apart as far as a caller can act on it.
pub(crate) fn file_error(doing: &str, errno: Errno) -> GuestError {
    let code = match errno {
        Errno::NOENT => ErrorCode::NotFound,
        Errno::EXIST => ErrorCode::AlreadyExists,
        // Of `openat2`: the path leaves its root, or goes through a link.
        Errno::XDEV | Errno::LOOP => ErrorCode::PathEscapes,
        // A fifo without a reader and a socket cannot be opened, which is as well.
        Errno::ISDIR | Errno::NOTDIR | Errno::NXIO | Errno::NODEV => ErrorCode::WrongKind,
        Errno::NOTEMPTY => ErrorCode::NotEmpty,
        Errno::ACCESS | Errno::PERM | Errno::ROFS => ErrorCode::PermissionDenied,
        Errno::NOSPC | Errno::DQUOT | Errno::FBIG => ErrorCode::NoSpace,
        Errno::MFILE | Errno::NFILE | Errno::NOMEM | Errno::AGAIN => ErrorCode::Exhausted,
        Errno::NAMETOOLONG | Errno::INVAL => ErrorCode::InvalidRequest,
        _ => ErrorCode::Other,
    };
    GuestError::new(code, format!("failed to {doing}: {errno}"))
}

/// An error of starting a program.
pub(crate) fn exec_error(program: &str, error: &io::Error) -> GuestError {
    let code = match error.kind() {
        io::ErrorKind::NotFound => ErrorCode::NotFound,
        io::ErrorKind::WouldBlock | io::ErrorKind::OutOfMemory => ErrorCode::Exhausted,
        io::ErrorKind::PermissionDenied | io::ErrorKind::InvalidInput => ErrorCode::NotExecutable,
        _ => match Errno::from_io_error(error) {
            Some(Errno::MFILE | Errno::NFILE) => ErrorCode::Exhausted,
            Some(Errno::NOEXEC | Errno::ISDIR | Errno::NOTDIR | Errno::LOOP | Errno::TOOBIG) => {
                ErrorCode::NotExecutable
            }
            _ => ErrorCode::Other,
        },
    };
    GuestError::new(code, format!("failed to start `{program}`: {error}"))
}
