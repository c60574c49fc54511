//! Where sessions and workspaces live on the host.

use std::{
    fs, io,
    os::unix::fs::{self as unix_fs, MetadataExt as _, PermissionsExt as _},
    path::{Path, PathBuf},
};

use warren_agents::LayoutFile;
use warren_domain::{SessionId, Timestamp, Version, WorkspaceId};
use warren_sandbox::Backend;

use crate::session::tree::{HOME_ROOT, USER_INPUT_ROOT, WORKSPACE_ROOT};

/// Some of the directories that belong to a version.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Part {
    All,
    /// What other sessions may work in too.
    Workspace,
    /// What is the session's alone.
    Own,
}

/// What is noted of a session's directories.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Held {
    /// The version they hold.
    pub(crate) version: Version,
    pub(crate) belief: Belief,
}

/// Whether what was noted is so.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Belief {
    /// It was on the disk by then, or the machine has run ever since.
    Certain,
    /// The machine may have lost its power since, and with it what was not on the disk yet.
    Unsure,
}

/// The directories of one session. What a sandbox can write is never opened from here, only bound into it or removed.
#[derive(Debug, Clone)]
pub(crate) struct Places {
    pub(crate) workspace: PathBuf,
    pub(crate) user_input: PathBuf,
    pub(crate) home: PathBuf,
    pub(crate) instructions: PathBuf,
    /// PDFs of its documents.
    pub(crate) converted: PathBuf,
    session_directory: PathBuf,
    workspace_directory: PathBuf,
}

impl Places {
    pub(crate) fn of(root: &Path, session: SessionId, workspace: WorkspaceId) -> Self {
        let session_directory = root.join("sessions").join(session.to_string());
        let workspace_directory = root.join("workspaces").join(workspace.to_string());
        Self {
            workspace: workspace_directory.join("tree"),
            user_input: session_directory.join("user-input"),
            home: session_directory.join("home"),
            instructions: session_directory.join("instructions"),
            converted: session_directory.join("converted"),
            session_directory,
            workspace_directory,
        }
    }

    /// Makes the directories that hold the others, and the instructions anew. All of these are the server's own.
    pub(crate) fn prepare(&self, instructions: &[LayoutFile]) -> io::Result<()> {
        fs::create_dir_all(&self.session_directory)?;
        fs::create_dir_all(&self.workspace_directory)?;
        replace_instructions(&self.instructions, instructions)
    }

    /// Whether the workspace was ever used on this machine.
    pub(crate) fn is_workspace_known(&self) -> bool {
        self.workspace_directory.exists()
    }

    /// Whether the workspace is there with all that new ones are given.
    pub(crate) fn has_workspace(&self) -> bool {
        self.workspace.exists() && !self.begun().exists()
    }

    /// Notes that the workspace is new. Until it is [whole](Self::workspace_is_whole), whoever finds it begins anew.
    pub(crate) fn begin_workspace(&self) -> io::Result<()> {
        fs::File::create(self.begun()).map(drop)
    }

    /// The workspace has all that new ones are given.
    pub(crate) fn workspace_is_whole(&self) -> io::Result<()> {
        match fs::remove_file(self.begun()) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            removed => removed,
        }
    }

    /// Notes that what is in the workspace is not what its files are: those are in a version, from which whoever comes next
    /// writes them. On disk when it returns.
    pub(crate) fn give_up_workspace(&self) -> io::Result<()> {
        fs::create_dir_all(&self.workspace_directory)?;
        fs::File::create(self.given_up())?;
        fs::File::open(&self.workspace_directory)?.sync_all()
    }

    /// From now on the files of the workspace are what is in it. On disk when it returns.
    pub(crate) fn believe_workspace(&self) -> io::Result<()> {
        match fs::remove_file(self.given_up()) {
            Ok(()) => fs::File::open(&self.workspace_directory)?.sync_all(),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            Err(error) => Err(error),
        }
    }

    fn given_up(&self) -> PathBuf {
        self.workspace_directory.join("given-up")
    }

    fn begun(&self) -> PathBuf {
        self.workspace_directory.join("begun")
    }

    /// Which version the directories hold, as far as that was noted.
    pub(crate) fn held(&self) -> Option<Held> {
        let note = fs::read_to_string(self.note()).ok()?;
        let mut words = note.split_whitespace();
        let version = Version(words.next()?.parse().ok()?);
        let is_certain = words.next().is_none_or(|written| boot().as_deref() == Some(written));
        Some(Held { version, belief: if is_certain { Belief::Certain } else { Belief::Unsure } })
    }

    /// Notes that the directories hold a version, as long as the machine runs: what is in them may not be on the disk yet.
    pub(crate) fn note_version(&self, version: Version) -> io::Result<()> {
        fs::create_dir_all(&self.session_directory)?;
        let new = self.note().with_extension("new");
        fs::write(&new, [version.to_string(), boot().unwrap_or_default()].join(" "))?;
        fs::rename(&new, self.note())
    }

    /// Brings the directories to the disk, if they are still there. Takes its time.
    pub(crate) fn sync(&self) -> io::Result<()> {
        for directory in [&self.session_directory, &self.workspace_directory] {
            match fs::File::open(directory) {
                Ok(opened) => rustix::fs::syncfs(opened)?,
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Notes for good that the directories, which are on the disk, hold a version. Does nothing if another is noted by now.
    pub(crate) fn note_for_good(&self, version: Version) -> io::Result<()> {
        if self.held() != Some(Held { version, belief: Belief::Certain }) {
            return Ok(());
        }
        // Cut off behind the version: nothing is made in a directory that somebody may be removing.
        let note = fs::OpenOptions::new().write(true).open(self.note())?;
        note.set_len(version.to_string().len() as u64)?;
        note.sync_all()
    }

    /// From now on the directories are not believed. On disk when it returns.
    pub(crate) fn forget_version(&self) -> io::Result<()> {
        match fs::remove_file(self.note()) {
            Ok(()) => fs::File::open(&self.session_directory)?.sync_all(),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// Whether these directories are there, with what they should have in them.
    pub(crate) fn are_there(&self, part: Part) -> bool {
        self.of_version(part).into_iter().all(|directory| self.is_there(directory))
    }

    /// The same of one of them.
    pub(crate) fn is_there(&self, directory: &Path) -> bool {
        directory.exists() && (directory != self.workspace || !self.given_up().exists())
    }

    /// Removes these directories. Each is gone at once, or still there whole.
    pub(crate) fn discard(&self, part: Part) -> io::Result<()> {
        for directory in self.of_version(part) {
            let gone = directory.with_extension("gone");
            remove(&gone)?;
            match fs::rename(directory, &gone) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                renamed => renamed?,
            }
            remove(&gone)?;
        }
        Ok(())
    }

    /// The directories that belong to a version, by the names of their roots in its tree.
    pub(crate) fn roots(&self, part: Part) -> Vec<(String, PathBuf)> {
        let all =
            [(WORKSPACE_ROOT, &self.workspace), (USER_INPUT_ROOT, &self.user_input), (HOME_ROOT, &self.home)];
        let of_part = all.into_iter().filter(|(_, at)| self.of_version(part).contains(&at.as_path()));
        of_part.map(|(name, at)| (name.to_owned(), at.clone())).collect()
    }

    /// New, empty directories beside those of [`Places::roots`], to be filled.
    pub(crate) fn make_new(&self, part: Part) -> io::Result<Vec<(String, PathBuf)>> {
        fs::create_dir_all(&self.session_directory)?;
        fs::create_dir_all(&self.workspace_directory)?;
        let roots = self.roots(part).into_iter().map(|(name, at)| (name, at.with_extension("new")));
        roots
            .map(|(name, at)| {
                remove(&at)?;
                fs::create_dir(&at)?;
                Ok((name, at))
            })
            .collect()
    }

    /// Puts these new directories into the place of the old ones, as those of user `uid`. What is in them is its own already.
    pub(crate) fn take_new(&self, part: Part, uid: u32) -> io::Result<()> {
        for at in self.of_version(part) {
            let new = at.with_extension("new");
            give(&new, uid)?;
            let gone = at.with_extension("gone");
            remove(&gone)?;
            match fs::rename(at, &gone) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                renamed => renamed?,
            }
            fs::rename(&new, at)?;
            remove(&gone)?;
        }
        Ok(())
    }

    fn of_version(&self, part: Part) -> Vec<&Path> {
        match part {
            Part::All => vec![&self.workspace, &self.user_input, &self.home],
            Part::Workspace => vec![&self.workspace],
            Part::Own => vec![&self.user_input, &self.home],
        }
    }

    fn note(&self) -> PathBuf {
        self.session_directory.join("version")
    }

    /// Removes the session's directories. Symbolic links are removed, never followed.
    pub(crate) fn remove_session(&self) -> io::Result<()> {
        remove(&self.session_directory)
    }

    /// Removes the workspace's directory.
    pub(crate) fn remove_workspace(&self) -> io::Result<()> {
        remove(&self.workspace_directory)
    }
}

/// All directories of sessions and workspaces on this machine, to find those that nobody needs any more.
#[derive(Debug, Clone)]
pub(crate) struct Strays {
    root: PathBuf,
}

/// What a directory is kept for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kept {
    Session(SessionId),
    Workspace(WorkspaceId),
}

impl Strays {
    pub(crate) fn of(root: &Path) -> Self {
        Self { root: root.to_owned() }
    }

    /// Every directory of a session or a workspace.
    pub(crate) fn list(&self) -> io::Result<Vec<(PathBuf, Kept)>> {
        let sessions = entries(&self.root.join("sessions"))?.into_iter();
        let sessions = sessions.filter_map(|at| Some((at.clone(), Kept::Session(name(&at)?.parse().ok()?))));
        let spaces = entries(&self.root.join("workspaces"))?.into_iter();
        let spaces = spaces.filter_map(|at| Some((at.clone(), Kept::Workspace(name(&at)?.parse().ok()?))));
        Ok(sessions.chain(spaces).collect())
    }

    /// Sets aside what user `uid` owns, which it has not used here before: it was another's, whose sessions are gone.
    pub(crate) fn set_aside_of(&self, uid: u32, now: Timestamp, backend: &dyn Backend) -> io::Result<()> {
        for (directory, _) in self.list()? {
            let is_owned = ["tree", "home", "user-input"]
                .iter()
                .any(|part| fs::symlink_metadata(directory.join(part)).is_ok_and(|found| found.uid() == uid));
            if is_owned {
                self.set_aside(&directory, now, backend)?;
            }
        }
        Ok(())
    }

    /// Moves a directory to where nobody looks for it, and where it counts for nobody's disk quota.
    pub(crate) fn set_aside(
        &self,
        directory: &Path,
        now: Timestamp,
        backend: &dyn Backend,
    ) -> io::Result<()> {
        let Some(own) = name(directory) else { return Ok(()) };
        let kind = directory.parent().and_then(name).unwrap_or_default();
        fs::create_dir_all(self.gone())?;
        let aside = self.gone().join(format!("{}-{kind}-{own}", now.as_millis()));
        match fs::rename(directory, &aside) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            renamed => renamed?,
        }
        backend.disown(&aside);
        Ok(())
    }

    /// Removes what was set aside before `then`.
    pub(crate) fn remove_older(&self, then: Timestamp) -> io::Result<()> {
        for directory in entries(&self.gone())? {
            let at = name(&directory).and_then(|name| name.split('-').next()?.parse::<i64>().ok());
            if at.is_some_and(|at| at < then.as_millis()) {
                remove(&directory)?;
            }
        }
        Ok(())
    }

    fn gone(&self) -> PathBuf {
        self.root.join("gone")
    }
}

fn name(path: &Path) -> Option<&str> {
    path.file_name()?.to_str()
}

/// What is in a directory; nothing if it is not there.
fn entries(directory: &Path) -> io::Result<Vec<PathBuf>> {
    match fs::read_dir(directory) {
        Ok(found) => found.map(|entry| entry.map(|entry| entry.path())).collect(),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(error) => Err(error),
    }
}

/// What the kernel calls this boot of the machine; nothing where it has no name.
fn boot() -> Option<String> {
    Some(fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?.trim().to_owned())
}

/// Gives a directory to a user. Who is not root can give nothing, and keeps it.
fn give(directory: &Path, uid: u32) -> io::Result<()> {
    match unix_fs::lchown(directory, Some(uid), Some(uid)) {
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => Ok(()),
        given => given,
    }
}

fn remove(directory: &Path) -> io::Result<()> {
    match fs::remove_dir_all(directory) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        other => other,
    }
}

/// Makes the instructions anew. They are the server's own: a sandbox can only read them.
fn replace_instructions(directory: &Path, files: &[LayoutFile]) -> io::Result<()> {
    remove(directory)?;
    make_readable(directory, directory)?;
    for file in files {
        let path = directory.join(&file.path);
        if let Some(parent) = path.parent() {
            make_readable(directory, parent)?;
        }
        fs::write(&path, &file.content)?;
        fs::set_permissions(&path, fs::Permissions::from_mode(0o644))?;
    }
    Ok(())
}

/// Makes `directory`, which is `root` or beneath it. A sandbox's UID can read each, whatever umask the server has.
fn make_readable(root: &Path, directory: &Path) -> io::Result<()> {
    fs::create_dir_all(directory)?;
    let made = directory.ancestors().take_while(|above| above.starts_with(root));
    made.into_iter().try_for_each(|above| fs::set_permissions(above, fs::Permissions::from_mode(0o755)))
}

#[cfg(test)]
mod tests {
    use std::{fs, os::unix::fs::PermissionsExt as _};

    use warren_agents::{LayoutFile, Place};
    use warren_domain::{SessionId, Version, WorkspaceId};

    use super::{Belief, Held, Places};

    #[test]
    fn instructions_are_readable_for_the_sandbox_under_any_umask() {
        let root = tempfile::tempdir().expect("a directory");
        let places = Places::of(root.path(), SessionId(uuid::Uuid::nil()), WorkspaceId(uuid::Uuid::nil()));
        let file = LayoutFile {
            place: Place::Instructions,
            path: "skills/charts/SKILL.md".into(),
            content: "Use bars.".into(),
            mode: 0o644,
        };
        let before = rustix::process::umask(rustix::fs::Mode::from_raw_mode(0o077));
        let prepared = places.prepare(&[file]);
        rustix::process::umask(before);
        prepared.expect("prepared");
        let mode = |path: &str| {
            fs::metadata(places.instructions.join(path)).expect("is there").permissions().mode() & 0o777
        };
        let modes = ["", "skills", "skills/charts", "skills/charts/SKILL.md"].map(mode);
        assert_eq!(modes, [0o755, 0o755, 0o755, 0o644]);
    }

    #[test]
    fn a_note_is_believed_while_the_machine_runs_and_for_good_when_all_is_on_the_disk() {
        let root = tempfile::tempdir().expect("a directory");
        let places = Places::of(root.path(), SessionId(uuid::Uuid::nil()), WorkspaceId(uuid::Uuid::nil()));
        let held = |belief| Some(Held { version: Version(7), belief });
        assert_eq!(places.held(), None);
        places.note_version(Version(7)).expect("noted");
        assert_eq!(places.held(), held(Belief::Certain));
        places.note_for_good(Version(6)).expect("passed over");
        assert_ne!(fs::read_to_string(places.note()).expect("a note"), "6");

        // Another boot of the machine wrote it.
        fs::write(places.note(), "7 0e5c1b9e-0000-4000-8000-000000000000").expect("written");
        assert_eq!(places.held(), held(Belief::Unsure));
        places.note_for_good(Version(7)).expect("passed over");
        assert_eq!(places.held(), held(Belief::Unsure), "nobody knows what was lost");

        places.note_version(Version(7)).expect("noted");
        places.note_for_good(Version(7)).expect("noted");
        assert_eq!(fs::read_to_string(places.note()).expect("a note"), "7");
        assert_eq!(places.held(), held(Belief::Certain));
        places.forget_version().expect("forgotten");
        assert_eq!(places.held(), None);
    }
}
