//! What a local sandbox gets on this machine.

use super::Local;
use crate::{BoxError, DiskIsolation, Isolation, UidIsolation, launcher::Configure};

impl Local {
    /// The isolation of a sandbox that started; whether it does is another question. Landlock is the guest's to tell.
    pub(super) fn isolation(&self, uid: u32) -> Isolation {
        let cgroup = self.cgroups.as_ref().map(|layout| layout.isolation());
        let mut notes = Vec::new();
        if !self.is_root {
            notes.push("the server does not run as root: sandboxes run under its own uid, and without control groups".into());
        }
        if cgroup.is_none() {
            notes.push("memory is limited for each process alone, CPU time is not limited".into());
        }
        Isolation {
            backend: "local".into(),
            userns: true,
            pidns: true,
            netns: true,
            seccomp: true,
            landlock: None,
            cgroup,
            uid: UidIsolation {
                uid: if self.is_root { uid } else { rustix::process::geteuid().as_raw() },
                own: self.is_root,
            },
            disk: DiskIsolation { how: "best effort".into() },
            notes,
        }
    }

    /// What the launcher is told about this machine.
    pub(super) fn configure(&self) -> Result<Configure, BoxError> {
        let bwrap = self.bwrap.clone().ok_or("bubblewrap is not installed: `apt install bubblewrap`")?;
        Ok(Configure {
            bwrap,
            cgroups: self.cgroups.as_deref().cloned(),
            limits: crate::Limits::default(),
            spares: self.options.spares,
            own_uid: self.is_root,
            base: self.base.mounts.clone(),
        })
    }
}
