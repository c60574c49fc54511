//! Project quotas of file systems: the system calls, and no decision about who gets which.
//!
//! A project is a number that every file of a file system has, 0 unless somebody changed it. A directory can hand its number
//! down to all that is made in it. Where project quotas are enforced (ext4 and XFS, mounted with `prjquota`), the kernel counts
//! what the files of a project take, files without a name included, and refuses what goes beyond the project's limit: `EDQUOT`
//! on ext4, `ENOSPC` on XFS.
#![allow(unsafe_code, reason = "no safe crate offers `quotactl_fd` and the ioctls of project ids")]

use std::{
    ffi::c_long,
    io,
    os::fd::{AsFd, AsRawFd},
};

/// The third kind of quota, after those of users and groups.
const PRJQUOTA: u32 = 2;
const Q_GETQUOTA: u32 = 0x0080_0007;
const Q_SETQUOTA: u32 = 0x0080_0008;
const Q_XGETQSTATV: u32 = 0x5808;
/// `Q_XGETQSTATV` says that limits of projects are enforced, not only counted.
const PROJECTS_ENFORCED: u16 = 1 << 5;
/// Limits on blocks and on inodes are given; all else stays as it is.
const QIF_LIMITS: u32 = 1 | 4;
/// Limits on bytes are counted in these.
const BLOCK: u64 = 1024;
/// ext4 refuses limits that are not much larger.
const LARGEST: u64 = 1 << 62;

const FS_IOC_FSGETXATTR: u32 = 0x801c_581f;
/// Refused to programs in a sandbox.
pub(crate) const FS_IOC_FSSETXATTR: u32 = 0x401c_5820;
/// What is made in the directory gets its project.
const FS_XFLAG_PROJINHERIT: u32 = 0x200;

/// What the files of a project take.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Usage {
    /// Bytes on disk, with those that are promised to files that are not written out yet.
    pub bytes: u64,
    /// Files and directories, and files that are open without a name.
    pub inodes: u64,
}

/// The project of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Project {
    /// Its number; 0 where nobody gave it one.
    pub id: u32,
    /// What is made in this directory gets the same project, and nothing of another project can be moved or linked into it.
    pub is_inherited: bool,
}

/// `struct if_dqblk` of `linux/quota.h`.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
struct Block {
    hard_blocks: u64,
    soft_blocks: u64,
    used_bytes: u64,
    hard_inodes: u64,
    soft_inodes: u64,
    used_inodes: u64,
    block_grace: u64,
    inode_grace: u64,
    valid: u32,
}

/// `struct fsxattr` of `linux/fs.h`.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
struct Attributes {
    flags: u32,
    extent_size: u32,
    n_extents: u32,
    project: u32,
    cow_extent_size: u32,
    padding: [u8; 8],
}

/// `struct fs_quota_statv` of `linux/dqblk_xfs.h`; of which only the start is read.
#[repr(C, align(8))]
struct State {
    version: i8,
    padding: u8,
    flags: u16,
    rest: [u8; 252],
}

/// Whether the file system of an open file holds projects to their limits.
pub fn is_enforced(on: impl AsFd) -> bool {
    let mut state = State { version: 1, padding: 0, flags: 0, rest: [0; 252] };
    // SAFETY: the kernel writes a `struct fs_quota_statv`, which is 160 bytes long, and `State` is longer.
    let asked = unsafe { control(on, Q_XGETQSTATV, 0, (&raw mut state).cast()) };
    asked.is_ok() && state.flags & PROJECTS_ENFORCED != 0
}

/// What a project takes on the file system of an open file.
///
/// # Errors
/// Where there are no project quotas, or the process may not see them.
pub fn usage(on: impl AsFd, project: u32) -> io::Result<Usage> {
    let mut block = Block::default();
    // SAFETY: the kernel writes a `struct if_dqblk`, which `Block` is.
    match unsafe { control(on, Q_GETQUOTA, project, (&raw mut block).cast()) } {
        Ok(()) => Ok(Usage { bytes: block.used_bytes, inodes: block.used_inodes }),
        // XFS knows nothing of a project that never had a file or a limit.
        Err(error) if error.raw_os_error() == Some(libc::ENOENT) => Ok(Usage::default()),
        Err(error) => Err(error),
    }
}

/// Limits a project on the file system of an open file; `None` takes its limits away. A limit that is below what the project
/// has already lets it grow no further.
///
/// # Errors
/// Where there are no project quotas, or the process has no `CAP_SYS_ADMIN` in the initial user namespace.
pub fn limit(on: impl AsFd, project: u32, limit: Option<Usage>) -> io::Result<()> {
    // The kernel takes 0 for no limit.
    let (hard_blocks, hard_inodes) = match limit {
        Some(Usage { bytes, inodes }) => {
            (bytes.min(LARGEST).div_ceil(BLOCK).max(1), inodes.clamp(1, LARGEST))
        }
        None => (0, 0),
    };
    let mut block = Block { hard_blocks, hard_inodes, valid: QIF_LIMITS, ..Block::default() };
    // SAFETY: the kernel reads a `struct if_dqblk`, which `Block` is.
    unsafe { control(on, Q_SETQUOTA, project, (&raw mut block).cast()) }
}

/// The project of an open file.
///
/// # Errors
/// Where the file system has no projects.
pub fn project(of: impl AsFd) -> io::Result<Project> {
    let found = attributes(of)?;
    Ok(Project { id: found.project, is_inherited: found.flags & FS_XFLAG_PROJINHERIT != 0 })
}

/// Gives an open file or directory to a project.
///
/// # Errors
/// Where the file system has no projects, the process is not in the initial user namespace, or the project is at its limit.
pub fn set_project(of: impl AsFd, project: Project) -> io::Result<()> {
    let mut wanted = attributes(&of)?;
    wanted.project = project.id;
    wanted.flags &= !FS_XFLAG_PROJINHERIT;
    if project.is_inherited {
        wanted.flags |= FS_XFLAG_PROJINHERIT;
    }
    // SAFETY: the kernel reads a `struct fsxattr`, which `Attributes` is.
    let done = unsafe { libc::ioctl(of.as_fd().as_raw_fd(), FS_IOC_FSSETXATTR as _, &raw const wanted) };
    result(done.into())
}

fn attributes(of: impl AsFd) -> io::Result<Attributes> {
    let mut found = Attributes::default();
    // SAFETY: the kernel writes a `struct fsxattr`, which `Attributes` is.
    let done = unsafe { libc::ioctl(of.as_fd().as_raw_fd(), FS_IOC_FSGETXATTR as _, &raw mut found) };
    result(done.into()).map(|()| found)
}

/// Calls `quotactl_fd` about a project.
///
/// # Safety
/// `data` points to what `command` takes, writable where the kernel writes it.
unsafe fn control(on: impl AsFd, command: u32, project: u32, data: *mut libc::c_void) -> io::Result<()> {
    let command = command << 8 | PRJQUOTA;
    // SAFETY: the caller answers for `data`; the other arguments are plain numbers.
    let done = unsafe {
        libc::syscall(libc::SYS_quotactl_fd, on.as_fd().as_raw_fd(), command, c_long::from(project), data)
    };
    result(done)
}

fn result(returned: c_long) -> io::Result<()> {
    if returned == -1 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use std::{fs::File, mem::offset_of};

    use super::*;

    #[test]
    fn structures_are_laid_out_as_the_kernel_has_them() {
        assert_eq!(
            (size_of::<Block>(), offset_of!(Block, used_inodes), offset_of!(Block, valid)),
            (72, 40, 64)
        );
        assert_eq!((size_of::<Attributes>(), offset_of!(Attributes, project)), (28, 12));
        assert_eq!(offset_of!(State, flags), 2);
        // The size of the structure is part of the number of an ioctl.
        assert_eq!([FS_IOC_FSGETXATTR, FS_IOC_FSSETXATTR].map(|number| number >> 16 & 0x3fff), [28, 28]);
    }

    #[test]
    fn file_system_in_memory_has_no_project_quotas() {
        let file = File::from(rustix::fs::memfd_create("none", rustix::fs::MemfdFlags::CLOEXEC).unwrap());
        assert!(!is_enforced(&file));
        assert!(usage(&file, 200_000).is_err());
        assert!(limit(&file, 200_000, None).is_err());
    }
}
