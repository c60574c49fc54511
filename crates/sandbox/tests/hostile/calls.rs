//! System calls that must not work.

use std::{io, ptr};

const GUEST: libc::c_int = 1;

/// Makes one call by name; `None` if there is no such attempt.
pub(crate) fn attempt(name: &str) -> Option<io::Result<()>> {
    #[cfg(target_arch = "x86_64")]
    if name == "i386" {
        return Some(i386());
    }
    on_the_guest(name).or_else(|| on_namespaces(name)).or_else(|| on_the_kernel(name)).map(outcome)
}

/// Calls that would take over the guest.
fn on_the_guest(name: &str) -> Option<libc::c_long> {
    let null = ptr::null::<u8>();
    // SAFETY: every call gets arguments that are valid or null; at worst this process dies, as it may.
    let returned = unsafe {
        match name {
            "ptrace" => libc::syscall(libc::SYS_ptrace, libc::PTRACE_ATTACH, GUEST, 0, 0),
            "process_vm_readv" => libc::syscall(libc::SYS_process_vm_readv, GUEST, null, 0, null, 0, 0),
            "process_vm_writev" => libc::syscall(libc::SYS_process_vm_writev, GUEST, null, 0, null, 0, 0),
            "pidfd_getfd" => {
                let pidfd = libc::syscall(libc::SYS_pidfd_open, GUEST, 0);
                libc::syscall(libc::SYS_pidfd_getfd, pidfd, 0, 0)
            }
            _ => return None,
        }
    };
    Some(returned)
}

/// Calls that would change namespaces or mounts.
fn on_namespaces(name: &str) -> Option<libc::c_long> {
    let null = ptr::null::<u8>();
    // SAFETY: every call gets arguments that are valid or null; at worst this process dies, as it may.
    let returned = unsafe {
        match name {
            "unshare-user" => libc::syscall(libc::SYS_unshare, libc::CLONE_NEWUSER),
            "unshare-mount" => libc::syscall(libc::SYS_unshare, libc::CLONE_NEWNS),
            "clone-user" => libc::syscall(libc::SYS_clone, libc::CLONE_NEWUSER | libc::SIGCHLD, 0, 0, 0, 0),
            "clone3" => libc::syscall(libc::SYS_clone3, null, 0),
            "setns" => libc::syscall(libc::SYS_setns, 0, 0),
            "mount" => {
                libc::syscall(libc::SYS_mount, c"none".as_ptr(), c"/tmp".as_ptr(), c"tmpfs".as_ptr(), 0, null)
            }
            "umount" => libc::syscall(libc::SYS_umount2, c"/knowledge".as_ptr(), libc::MNT_DETACH),
            "remount" => libc::syscall(
                libc::SYS_mount,
                null,
                c"/knowledge".as_ptr(),
                null,
                libc::MS_REMOUNT | libc::MS_BIND,
                null,
            ),
            "pivot_root" => libc::syscall(libc::SYS_pivot_root, c"/tmp".as_ptr(), c"/tmp".as_ptr()),
            "chroot" => libc::syscall(libc::SYS_chroot, c"/tmp".as_ptr()),
            "open_tree" => libc::syscall(libc::SYS_open_tree, libc::AT_FDCWD, c"/".as_ptr(), 1),
            "fsopen" => libc::syscall(libc::SYS_fsopen, c"tmpfs".as_ptr(), 0),
            "open_by_handle_at" => libc::syscall(libc::SYS_open_by_handle_at, libc::AT_FDCWD, null, 0),
            _ => return None,
        }
    };
    Some(returned)
}

/// Every way to make a file that runs with its owner's rights; `setid BITS` of `setid chmod 4755`.
pub(crate) fn set_id(way: &str, bits: &str) -> Option<io::Result<()>> {
    let mode = libc::mode_t::from_str_radix(bits, 8).ok()?;
    let (old, new) = (c"/workspace/old", c"/workspace/new");
    let here = libc::AT_FDCWD;
    let make = libc::O_CREAT | libc::O_WRONLY;
    // SAFETY: every path is a valid string, and every structure outlives its call.
    let returned = unsafe {
        libc::unlink(new.as_ptr());
        libc::rmdir(new.as_ptr());
        let file = libc::open(old.as_ptr(), make, 0o600);
        match way {
            #[cfg(target_arch = "x86_64")]
            "chmod" => libc::syscall(libc::SYS_chmod, old.as_ptr(), mode),
            "fchmod" => libc::syscall(libc::SYS_fchmod, file, mode),
            "fchmodat" => libc::syscall(libc::SYS_fchmodat, here, old.as_ptr(), mode),
            "fchmodat2" => libc::syscall(libc::SYS_fchmodat2, here, old.as_ptr(), mode, 0),
            #[cfg(target_arch = "x86_64")]
            "mknod" => libc::syscall(libc::SYS_mknod, new.as_ptr(), libc::S_IFREG | mode, 0),
            "mknodat" => libc::syscall(libc::SYS_mknodat, here, new.as_ptr(), libc::S_IFREG | mode, 0),
            #[cfg(target_arch = "x86_64")]
            "mkdir" => libc::syscall(libc::SYS_mkdir, new.as_ptr(), mode),
            "mkdirat" => libc::syscall(libc::SYS_mkdirat, here, new.as_ptr(), mode),
            #[cfg(target_arch = "x86_64")]
            "creat" => libc::syscall(libc::SYS_creat, new.as_ptr(), mode),
            #[cfg(target_arch = "x86_64")]
            "open" => libc::syscall(libc::SYS_open, new.as_ptr(), make, mode),
            "openat" => libc::syscall(libc::SYS_openat, here, new.as_ptr(), make, mode),
            "tmpfile" => {
                let flags = libc::O_TMPFILE | libc::O_WRONLY;
                libc::syscall(libc::SYS_openat, here, c"/workspace".as_ptr(), flags, mode)
            }
            "open-existing" => libc::syscall(libc::SYS_openat, here, old.as_ptr(), libc::O_RDONLY, mode),
            "openat2" => {
                // Flags, mode and resolve: three numbers of 64 bits.
                let how = [u64::from(make.cast_unsigned()), u64::from(mode), 0];
                let made =
                    libc::syscall(libc::SYS_openat2, here, new.as_ptr(), how.as_ptr(), size_of_val(&how));
                libc::write(made as libc::c_int, c"#!".as_ptr().cast(), 2);
                made
            }
            _ => return None,
        }
    };
    Some(outcome(returned))
}

/// Calls that reach the kernel past all namespaces.
fn on_the_kernel(name: &str) -> Option<libc::c_long> {
    let null = ptr::null::<u8>();
    // SAFETY: every call gets arguments that are valid or null; at worst this process dies, as it may.
    let returned = unsafe {
        match name {
            "keyctl" => libc::syscall(libc::SYS_keyctl, 0, -3, 0),
            "add_key" => {
                libc::syscall(libc::SYS_add_key, c"user".as_ptr(), c"x".as_ptr(), c"y".as_ptr(), 1, -3)
            }
            "bpf" => libc::syscall(libc::SYS_bpf, 0, null, 0),
            "io_uring" => libc::syscall(libc::SYS_io_uring_setup, 1, null),
            "perf_event_open" => libc::syscall(libc::SYS_perf_event_open, null, 0, -1, -1, 0),
            "userfaultfd" => libc::syscall(libc::SYS_userfaultfd, 0),
            "unknown" => libc::syscall(1000),
            "memfd_secret" => libc::syscall(447, 0),
            "statmount" => libc::syscall(457, null, null, 0, 0),
            "unusual-personality" => libc::syscall(libc::SYS_personality, 0x0040_0000),
            "usual-personality" => libc::syscall(libc::SYS_personality, 0xffff_ffff_u64),
            "init_module" => libc::syscall(libc::SYS_init_module, null, 0, null),
            "reboot" => libc::syscall(libc::SYS_reboot, 0, 0, 0, null),
            "setuid" => libc::syscall(libc::SYS_setuid, 0),
            "mknod" => libc::syscall(
                libc::SYS_mknodat,
                libc::AT_FDCWD,
                c"/workspace/disk".as_ptr(),
                libc::S_IFBLK | 0o666,
                libc::makedev(254, 0),
            ),
            "tiocsti" => libc::syscall(libc::SYS_ioctl, 0, libc::TIOCSTI, c"x".as_ptr()),
            "project" => {
                let directory = libc::open(c"/workspace".as_ptr(), libc::O_RDONLY);
                // `FS_IOC_FSSETXATTR`, with the project 0.
                libc::syscall(libc::SYS_ioctl, directory, 0x401c_5820, [0_u32; 7].as_ptr())
            }
            "fallocate" => {
                let file = libc::open(c"/workspace/hole".as_ptr(), libc::O_CREAT | libc::O_WRONLY, 0o600);
                libc::syscall(libc::SYS_fallocate, file, 0, 0_i64, 1_i64 << 30)
            }
            #[cfg(target_arch = "x86_64")]
            "x32" => libc::syscall(0x4000_0000 | libc::SYS_getpid),
            _ => return None,
        }
    };
    Some(returned)
}

pub(crate) fn socket(family: libc::c_int) -> io::Result<()> {
    // SAFETY: no pointer is passed.
    outcome(unsafe { libc::syscall(libc::SYS_socket, family, libc::SOCK_STREAM, 0) })
}

pub(crate) fn kill(pid: libc::c_int) -> io::Result<()> {
    // SAFETY: no pointer is passed.
    outcome(unsafe { libc::syscall(libc::SYS_kill, pid, libc::SIGKILL) })
}

/// `getpid` through the door for 32-bit programs, where the numbers of calls are others.
#[cfg(target_arch = "x86_64")]
fn i386() -> io::Result<()> {
    let mut returned: i64 = 20;
    // SAFETY: `getpid` takes no argument and changes nothing; the registers the kernel clobbers are said to be.
    unsafe {
        std::arch::asm!("int 0x80", inout("rax") returned, out("r8") _, out("r9") _, out("r10") _, out("r11") _);
    }
    if returned < 0 { Err(io::Error::from_raw_os_error(-(returned as i32))) } else { Ok(()) }
}

fn outcome(returned: libc::c_long) -> io::Result<()> {
    if returned == -1 { Err(io::Error::last_os_error()) } else { Ok(()) }
}
