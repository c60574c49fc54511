//! The system calls that no safe crate offers. All `unsafe` of the guest is here.
#![allow(unsafe_code, reason = "file descriptors given by number, and the moment between fork and exec")]

use std::{
    io,
    os::{
        fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd},
        unix::process::CommandExt,
    },
    process::Command,
};

use rustix::process::{Resource, Rlimit};
use tokio::io::unix::AsyncFd;

/// Closes every descriptor above 2 except `keep`, which must be sorted.
pub(crate) fn close_all_but(keep: &[RawFd]) -> io::Result<()> {
    let mut from = 3;
    for fd in keep.iter().map(|fd| fd.unsigned_abs()) {
        if fd > from {
            close_range(from, fd - 1, 0)?;
        }
        from = fd + 1;
    }
    close_range(from, libc::c_uint::MAX, 0)
}

/// Takes over a descriptor that the host said it passed on. Fails if it is not open.
///
/// To be called before anything else is opened: the number then cannot belong to anybody.
pub(crate) fn adopt(fd: RawFd) -> io::Result<OwnedFd> {
    // SAFETY: the descriptor is only borrowed, for a call that fails if it is not open.
    let probe = unsafe { BorrowedFd::borrow_raw(fd) };
    rustix::io::fcntl_setfd(probe, rustix::io::FdFlags::CLOEXEC)?;
    // SAFETY: it is open, as the call above has shown, and nothing else in this process knows of it.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

/// Makes a file that grows past its limit an error (`EFBIG`) instead of the end of the process.
pub(crate) fn ignore_file_size_signal() {
    // SAFETY: no handler is installed, only ignored.
    unsafe { libc::signal(libc::SIGXFSZ, libc::SIG_IGN) };
}

/// The kernel's Landlock ABI, if it has Landlock.
pub(crate) fn landlock_abi() -> Option<u32> {
    const VERSION: libc::c_uint = 1;
    // SAFETY: with this flag the call reads no memory; it only returns a number.
    let abi = unsafe {
        libc::syscall(libc::SYS_landlock_create_ruleset, std::ptr::null::<libc::c_void>(), 0usize, VERSION)
    };
    u32::try_from(abi).ok().filter(|abi| *abi > 0)
}

/// Lets the runtime wake us when a descriptor can be read.
pub(crate) fn register(fd: OwnedFd) -> io::Result<AsyncFd<OwnedFd>> {
    // SAFETY: the descriptor is owned by the registration, so it stays open and the same as long as that lives.
    Ok(unsafe { AsyncFd::register(fd) }?)
}

/// What a child does to itself before it becomes another program.
///
/// Everything is made ready before the fork: the child only makes system calls.
pub(crate) struct BeforeExec {
    /// Descriptors of `cgroup.procs` files. They must outlive the spawn.
    pub(crate) cgroups: Vec<RawFd>,
    pub(crate) rlimits: Vec<(Resource, Rlimit)>,
    /// Descriptor of a Landlock ruleset. It must outlive the spawn.
    pub(crate) landlock: Option<RawFd>,
}

impl BeforeExec {
    /// Makes `command` do all this in the child.
    pub(crate) fn attach(self, command: &mut Command) {
        // SAFETY: `run` allocates nothing, takes no lock and only makes system calls, so it may run after a fork.
        unsafe { command.pre_exec(move || self.run()) };
    }

    fn run(&self) -> io::Result<()> {
        // Its own session, hence its own process group, and no terminal of ours.
        rustix::process::setsid()?;
        for fd in &self.cgroups {
            // SAFETY: the parent keeps it open, and the child has a copy of the parent's descriptors.
            rustix::io::write(unsafe { BorrowedFd::borrow_raw(*fd) }, b"0")?;
        }
        for (resource, limit) in &self.rlimits {
            rustix::process::setrlimit(*resource, *limit)?;
        }
        // SAFETY: no handler is installed. The guest ignores this signal, and ignoring is inherited.
        unsafe { libc::signal(libc::SIGXFSZ, libc::SIG_DFL) };
        rustix::thread::set_no_new_privs(true)?;
        if let Some(ruleset) = self.landlock {
            landlock_restrict_self(ruleset)?;
        }
        // Whatever is still open ends with the exec, even what was opened without that flag.
        close_range(3, libc::c_uint::MAX, libc::CLOSE_RANGE_CLOEXEC)
    }
}

fn landlock_restrict_self(ruleset: RawFd) -> io::Result<()> {
    // SAFETY: the call takes two numbers and touches no memory of ours.
    let result = unsafe { libc::syscall(libc::SYS_landlock_restrict_self, ruleset, 0u32) };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// With a flag of zero, closes; callers own every descriptor in the range.
fn close_range(first: libc::c_uint, last: libc::c_uint, flags: libc::c_uint) -> io::Result<()> {
    // SAFETY: the call takes three numbers. Closing is only asked for at the start, before anything is owned.
    let result = unsafe { libc::syscall(libc::SYS_close_range, first, last, flags) };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// The number of a descriptor, for [`BeforeExec`].
pub(crate) fn number(fd: &OwnedFd) -> RawFd {
    fd.as_raw_fd()
}

/// Makes `command` end with the process that starts it, however that ends.
pub(crate) fn die_with_parent(command: &mut Command) {
    let parent = rustix::process::getpid();
    let follow = move || {
        rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::KILL))?;
        // The parent may be gone already.
        match rustix::process::getppid() {
            Some(pid) if pid == parent => Ok(()),
            _ => Err(io::ErrorKind::BrokenPipe.into()),
        }
    };
    // SAFETY: the closure only makes system calls, so it may run after a fork.
    unsafe { command.pre_exec(follow) };
}
