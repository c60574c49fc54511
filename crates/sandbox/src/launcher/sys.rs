//! The few system calls that have no safe wrapper.
#![allow(unsafe_code, reason = "fork, unshare and raw descriptors; the process has one thread")]

use std::io;

use rustix::{
    fd::{AsRawFd, OwnedFd},
    process::Pid,
    thread::UnshareFlags,
};

/// Which of the two processes a fork returned in.
pub(super) enum Fork {
    Parent(Pid),
    Child,
}

/// Splits the process.
pub(super) fn fork() -> io::Result<Fork> {
    // SAFETY: the launcher has one thread, so the child owns every lock its copy of memory says is held.
    match unsafe { libc::fork() } {
        -1 => Err(io::Error::last_os_error()),
        0 => Ok(Fork::Child),
        pid => {
            Pid::from_raw(pid).map(Fork::Parent).ok_or_else(|| io::Error::other("fork returned no process"))
        }
    }
}

/// Gives this process a mount namespace of its own.
pub(super) fn unshare_mounts() -> io::Result<()> {
    // SAFETY: only the mount namespace is unshared; the descriptor table stays as it is.
    Ok(unsafe { rustix::thread::unshare_unsafe(UnshareFlags::NEWNS) }?)
}

/// Closes every descriptor above standard error but `kept`.
pub(super) fn close_all_but(kept: &OwnedFd) {
    let kept = kept.as_raw_fd().cast_unsigned();
    for (first, last) in [(3, kept.saturating_sub(1)), (kept + 1, u32::MAX)] {
        if first <= last {
            // SAFETY: called before anything else was opened, so nothing in this process owns these descriptors.
            // A kernel without the call is older than any with the namespaces we need; nothing is lost by its error.
            unsafe { libc::syscall(libc::SYS_close_range, first, last, 0) };
        }
    }
}

/// The version of Landlock the kernel has, 0 for none.
pub(crate) fn landlock_abi() -> u32 {
    const VERSION: libc::c_uint = 1;
    // SAFETY: asking for the version takes no pointer.
    let abi = unsafe {
        libc::syscall(libc::SYS_landlock_create_ruleset, std::ptr::null::<libc::c_void>(), 0_usize, VERSION)
    };
    u32::try_from(abi).unwrap_or(0)
}
