//! The data directory: who works in it, and what they leave there for others.

use std::{
    fs::{self, DirBuilder, File, OpenOptions, TryLockError},
    io::{self, Write as _},
    os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _},
    path::{Path, PathBuf},
    process,
};

use anyhow::{Context as _, Result, bail};
use serde::{Deserialize, Serialize};

use crate::{invocation::quoted, report::Advised};

/// Held by the server; whoever can take it is alone.
const LOCK: &str = "lock";
/// Where the server can be reached. Means nothing unless the lock is held.
const SERVER: &str = "server.json";
/// The admin token of the first start, for commands on this machine.
const TOKEN: &str = "token";

/// The lasting name of this directory's server: leases are held under it over restarts.
const NODE: &str = "node";

/// A data directory.
#[derive(Debug, Clone)]
pub(crate) struct Home {
    directory: PathBuf,
}

/// The server of a data directory, as it tells others.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Holder {
    /// Where it can be reached.
    pub(crate) url: String,
    /// Its process.
    pub(crate) pid: u32,
}

/// The right to be the server of a data directory; ends with the process, however that ends.
pub(crate) struct Lock {
    home: Home,
    /// Closed on exec, so no child can keep the directory locked.
    _file: File,
}

impl Home {
    pub(crate) fn new(directory: PathBuf) -> Self {
        Self { directory }
    }

    pub(crate) fn directory(&self) -> &Path {
        &self.directory
    }

    /// Creates the directory with mode 0700 if it does not exist.
    pub(crate) fn make(&self) -> Result<()> {
        let made = DirBuilder::new().recursive(true).mode(0o700).create(&self.directory);
        made.with_context(|| format!("failed to make the data directory `{}`", self.directory.display()))
    }

    /// Refuses a directory of another user, or one that other users can enter: the database, the token and the files of
    /// every sandbox are in it, and those files have whatever mode an agent gave them.
    fn check_private(&self) -> Result<()> {
        let shown = self.directory.display();
        let quoted = quoted(&shown.to_string());
        let found = fs::metadata(&self.directory)
            .with_context(|| format!("failed to read the mode of the data directory `{shown}`"))?;
        let (owner, user) = (found.uid(), rustix::process::geteuid().as_raw());
        if owner != user {
            bail!(Advised::new(
                format!(
                    "the data directory `{shown}` belongs to UID {owner}, and the server runs as UID {user}"
                ),
                format!("run `chown -R {user} {quoted}`, or name another directory with `--dir`"),
            ));
        }
        let mode = found.mode() & 0o7777;
        if mode & 0o077 != 0 {
            bail!(Advised::new(
                format!(
                    "the data directory `{shown}` has mode {mode:04o}: other users of this machine could read the database \
                     and run files that agents made"
                ),
                format!("run `chmod 700 {quoted}`, then start the server again"),
            ));
        }
        Ok(())
    }

    /// Makes the directory, for its owner only, and takes the lock. `None` if someone else has it.
    pub(crate) fn lock(&self) -> Result<Option<Lock>> {
        let shown = self.directory.display();
        self.make()?;
        self.check_private()?;
        let file = private().truncate(false).open(self.directory.join(LOCK));
        let file =
            file.with_context(|| format!("failed to open the lock of the data directory `{shown}`"))?;
        match file.try_lock() {
            Ok(()) => Ok(Some(Lock { home: self.clone(), _file: file })),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(error)) => {
                Err(error).with_context(|| format!("failed to lock the data directory `{shown}`"))
            }
        }
    }

    /// The server that said it works here. It may be gone.
    pub(crate) fn holder(&self) -> Option<Holder> {
        serde_json::from_slice(&fs::read(self.directory.join(SERVER)).ok()?).ok()
    }

    /// Why a second server cannot start.
    pub(crate) fn held(&self) -> Advised {
        let directory = self.directory.display();
        match self.holder() {
            Some(Holder { url, pid }) => Advised::new(
                format!("the data directory `{directory}` is in use by process {pid}, a server at {url}"),
                format!("use that server, stop it with `kill {pid}`, or name another directory with `--dir`"),
            ),
            None => Advised::new(
                format!(
                    "the data directory `{directory}` is in use by a server that is just starting or ending"
                ),
                "try again in a moment, or name another directory with `--dir`",
            ),
        }
    }

    /// The admin token, if there has been a first start.
    pub(crate) fn token(&self) -> Result<Option<String>> {
        match fs::read_to_string(self.token_path()) {
            Ok(token) => Ok(Some(token.trim().to_owned())),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => {
                Err(error).with_context(|| format!("failed to read `{}`", self.token_path().display()))
            }
        }
    }

    /// Where the admin token is.
    pub(crate) fn token_path(&self) -> PathBuf {
        self.directory.join(TOKEN)
    }
}

impl Lock {
    pub(crate) fn home(&self) -> &Home {
        &self.home
    }

    /// Tells others where we are.
    pub(crate) fn announce(&self, url: &str) -> Result<()> {
        let holder = Holder { url: url.to_owned(), pid: process::id() };
        self.replace(SERVER, &serde_json::to_string(&holder)?)
    }

    /// Takes that back.
    pub(crate) fn withdraw(&self) {
        // It says nothing any more once the lock is gone, so a file that stays does no harm.
        let _ = fs::remove_file(self.home.directory.join(SERVER));
    }

    /// The server's lasting name; made at the first start.
    pub(crate) fn node(&self) -> Result<String> {
        let path = self.home.directory.join(NODE);
        match fs::read_to_string(&path) {
            Ok(name) if !name.trim().is_empty() => return Ok(name.trim().to_owned()),
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                return Err(error).with_context(|| format!("failed to read `{}`", path.display()));
            }
            _ => {}
        }
        let name = uuid::Uuid::now_v7().to_string();
        self.replace(NODE, &name)?;
        Ok(name)
    }

    /// Keeps the admin token, for this user's eyes only.
    pub(crate) fn keep_token(&self, token: &str) -> Result<()> {
        self.replace(TOKEN, &format!("{token}\n"))
    }

    /// Writes a file so that readers see the old text or the new one, never a part.
    fn replace(&self, name: &str, text: &str) -> Result<()> {
        let path = self.home.directory.join(name);
        let draft = self.home.directory.join(format!("{name}.new"));
        let write = || -> io::Result<()> {
            let mut file = private().truncate(true).open(&draft)?;
            file.write_all(text.as_bytes())?;
            file.sync_all()?;
            fs::rename(&draft, &path)
        };
        write().with_context(|| format!("failed to write `{}`", path.display()))
    }
}

/// Opens files that only their owner can read.
pub(crate) fn private() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.write(true).create(true).mode(0o600);
    options
}

#[cfg(test)]
mod tests {
    use std::{fs, os::unix::fs::PermissionsExt as _, process};

    use super::{Holder, Home};

    fn mode(path: &std::path::Path) -> u32 {
        fs::metadata(path).expect("is there").permissions().mode() & 0o777
    }

    #[test]
    fn a_second_server_is_told_who_holds_the_directory() {
        let root = tempfile::tempdir().expect("a directory");
        let home = Home::new(root.path().join("a/b"));
        let lock = home.lock().expect("locked").expect("free");
        lock.announce("http://127.0.0.1:1").expect("announced");
        assert!(home.lock().expect("tried").is_none());
        assert_eq!(home.holder(), Some(Holder { url: "http://127.0.0.1:1".to_owned(), pid: process::id() }));
        let said = home.held().to_string();
        assert!(
            said.contains(&format!("in use by process {}, a server at http://127.0.0.1:1", process::id())),
            "{said}"
        );
        drop(lock);
        assert!(home.lock().expect("tried").is_some());
    }

    #[test]
    fn nobody_else_can_read_the_token() {
        let root = tempfile::tempdir().expect("a directory");
        let home = Home::new(root.path().join("home"));
        assert_eq!(home.token().expect("readable"), None);
        let lock = home.lock().expect("locked").expect("free");
        lock.keep_token("secret").expect("kept");
        assert_eq!(home.token().expect("readable").as_deref(), Some("secret"));
        assert_eq!((mode(home.directory()), mode(&home.token_path())), (0o700, 0o600));
    }

    #[test]
    fn data_directory_open_to_other_users_is_refused_with_the_command_that_fixes_it() {
        let root = tempfile::tempdir().expect("a directory");
        let directory = root.path().join("Ada's data");
        fs::create_dir(&directory).expect("made");
        let home = Home::new(directory.clone());
        for open in [0o755, 0o710, 0o701] {
            fs::set_permissions(&directory, fs::Permissions::from_mode(open)).expect("a mode");
            let error = home.lock().err().expect("refused");
            assert!(error.to_string().contains(&format!("has mode {open:04o}")), "{error}");
            assert!(!directory.join("lock").exists(), "nothing is written");
            let hint = crate::report::hint(&error).expect("a hint");
            let command = hint.split('`').nth(1).expect("a command");
            let run = process::Command::new("sh").args(["-c", command]).status().expect("a shell");
            assert!(run.success(), "{command}");
            assert_eq!(mode(&directory), 0o700);
            assert!(home.lock().expect("accepted").is_some());
            fs::remove_file(directory.join("lock")).expect("removed");
        }
    }

    #[test]
    fn data_directory_of_another_user_is_refused() {
        if !rustix::process::geteuid().is_root() {
            eprintln!("skipped: only root can give a directory away");
            return;
        }
        let root = tempfile::tempdir().expect("a directory");
        std::os::unix::fs::chown(root.path(), Some(54321), None).expect("given away");
        let error = Home::new(root.path().to_owned()).lock().err().expect("refused");
        assert!(error.to_string().contains("belongs to UID 54321"), "{error}");
    }
}
