//! A place from which an unprivileged bubblewrap can bind what only root can reach.
//!
//! The data directory often lies below a directory that nobody else may enter (root's home). A child of the launcher
//! therefore mounts, in a mount namespace of its own and while it is still root, what its sandbox needs in a
//! directory that everybody can enter. The namespace, and all of this, ends with the sandbox.

use std::{
    fs::{self, File},
    io,
    path::{Path, PathBuf},
};

use rustix::mount::{
    MountFlags, MountPropagationFlags, MoveMountFlags, OpenTreeFlags, mount, mount_change, move_mount,
    open_tree,
};

use super::{message::Mount, sys};

/// Directories of every Linux system that are rarely used; what is in them is hidden from the child only.
const PLACES: [&str; 3] = ["/mnt", "/media", "/srv"];

/// Where a child's mounts were put.
pub(super) struct Stage {
    root: PathBuf,
    used: usize,
}

impl Stage {
    /// Leaves the launcher's mount namespace and makes an empty stage.
    pub(super) fn set_up() -> io::Result<Self> {
        let place = PLACES.into_iter().find(|place| Path::new(place).is_dir());
        let root =
            PathBuf::from(place.ok_or_else(|| io::Error::other("none of /mnt, /media and /srv exists"))?);
        sys::unshare_mounts()?;
        mount_change("/", MountPropagationFlags::REC | MountPropagationFlags::PRIVATE)?;
        mount("tmpfs", &root, "tmpfs", MountFlags::NODEV | MountFlags::NOSUID, c"mode=0755,size=1m")?;
        Ok(Self { root, used: 0 })
    }

    /// Puts one file or directory on the stage; returns the mount with its new source.
    pub(super) fn put(&mut self, wanted: &Mount) -> io::Result<Mount> {
        let flags = OpenTreeFlags::OPEN_TREE_CLONE
            | OpenTreeFlags::OPEN_TREE_CLOEXEC
            | OpenTreeFlags::AT_RECURSIVE
            | OpenTreeFlags::AT_SYMLINK_NOFOLLOW;
        let tree = open_tree(rustix::fs::CWD, &wanted.source, flags)?;
        let place = self.root.join(self.used.to_string());
        self.used += 1;
        if rustix::fs::fstat(&tree)?.st_mode & libc::S_IFMT == libc::S_IFDIR {
            fs::create_dir(&place)?;
        } else {
            File::create(&place)?;
        }
        move_mount(&tree, "", rustix::fs::CWD, &place, MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH)?;
        Ok(Mount { source: place, ..wanted.clone() })
    }
}
