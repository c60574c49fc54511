//! Tokens of remote servers, as `warren login` saved them: one file that only its owner can read.

use std::{
    collections::BTreeMap,
    fs::{self, DirBuilder},
    io::{self, Write as _},
    os::unix::fs::{DirBuilderExt as _, MetadataExt as _},
    path::{Path, PathBuf},
};

use anyhow::{Context as _, Result, bail};
use warren_config::Environment;

use crate::{home::private, report::Advised};

/// The saved logins of a user.
#[derive(Debug, Clone)]
pub(crate) struct Logins {
    path: PathBuf,
}

impl Logins {
    /// Those in the user's configuration directory. `None` without a home directory.
    pub(crate) fn of_user(environment: &Environment) -> Option<Self> {
        let absolute =
            |name: &str| environment.get(name).map(PathBuf::from).filter(|path| path.is_absolute());
        let directory = absolute("XDG_CONFIG_HOME").or_else(|| Some(absolute("HOME")?.join(".config")))?;
        Some(Self { path: directory.join("warren/logins.json") })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// The saved token of a server.
    pub(crate) fn token(&self, url: &str) -> Result<Option<String>> {
        Ok(self.read()?.remove(&key(url)))
    }

    /// Saves the token of a server in place of an earlier one.
    pub(crate) fn save(&self, url: &str, token: &str) -> Result<()> {
        let mut all = self.read()?;
        all.insert(key(url), token.to_owned());
        self.write(&all)
    }

    /// Removes the token of a server. Says whether there was one.
    pub(crate) fn forget(&self, url: &str) -> Result<bool> {
        let mut all = self.read()?;
        let was_there = all.remove(&key(url)).is_some();
        if was_there {
            self.write(&all)?;
        }
        Ok(was_there)
    }

    fn read(&self) -> Result<BTreeMap<String, String>> {
        let shown = self.path.display();
        let text = match fs::read(&self.path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(BTreeMap::new()),
            Err(error) => return Err(error).with_context(|| format!("failed to read `{shown}`")),
        };
        let mode =
            fs::metadata(&self.path).with_context(|| format!("failed to read `{shown}`"))?.mode() & 0o7777;
        if mode & 0o077 != 0 {
            bail!(Advised::new(
                format!("other users can read the saved tokens in `{shown}` (mode {mode:04o})"),
                format!("run `chmod 600 {shown}`, and replace the tokens if others use this machine"),
            ));
        }
        serde_json::from_slice(&text).with_context(|| format!("`{shown}` is not valid JSON"))
    }

    /// Readers see the old file or the new one, never a part.
    fn write(&self, all: &BTreeMap<String, String>) -> Result<()> {
        let write = || -> io::Result<()> {
            if let Some(directory) = self.path.parent() {
                DirBuilder::new().recursive(true).mode(0o700).create(directory)?;
            }
            let draft = self.path.with_extension("json.new");
            let mut file = private().truncate(true).open(&draft)?;
            file.write_all(&serde_json::to_vec_pretty(all)?)?;
            file.sync_all()?;
            fs::rename(&draft, &self.path)
        };
        write().with_context(|| format!("failed to write `{}`", self.path.display()))
    }
}

/// Spellings of one address are one server.
fn key(url: &str) -> String {
    match reqwest::Url::parse(url) {
        Ok(url) => url.as_str().trim_end_matches('/').to_owned(),
        Err(_) => url.trim_end_matches('/').to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use std::{fs, os::unix::fs::PermissionsExt as _};

    use warren_config::Environment;

    use super::Logins;

    #[test]
    fn token_is_saved_for_its_server_only_and_for_its_owner_only() {
        let root = tempfile::tempdir().expect("a directory");
        let home = root.path().to_str().expect("a path");
        let logins = Logins::of_user(&Environment::from([("HOME", home)])).expect("a place");
        assert_eq!(logins.token("https://a.test").expect("read"), None);
        logins.save("https://A.test/", "one").expect("saved");
        logins.save("https://b.test:8443", "two").expect("saved");
        assert_eq!(logins.token("https://a.test").expect("read").as_deref(), Some("one"));
        assert_eq!(logins.token("http://a.test").expect("read"), None, "another scheme is another server");
        let mode = |path: &std::path::Path| fs::metadata(path).expect("there").permissions().mode() & 0o777;
        assert_eq!((mode(logins.path()), mode(logins.path().parent().expect("a parent"))), (0o600, 0o700));
        assert_eq!(
            [logins.forget("https://a.test").expect("ok"), logins.forget("https://a.test").expect("ok")],
            [true, false]
        );
        assert_eq!(logins.token("https://b.test:8443/").expect("read").as_deref(), Some("two"));
    }

    #[test]
    fn file_that_others_can_read_is_refused() {
        let root = tempfile::tempdir().expect("a directory");
        let home = root.path().to_str().expect("a path");
        let logins = Logins::of_user(&Environment::from([("XDG_CONFIG_HOME", home)])).expect("a place");
        logins.save("https://a.test", "one").expect("saved");
        fs::set_permissions(logins.path(), fs::Permissions::from_mode(0o644)).expect("a mode");
        let error = logins.token("https://a.test").expect_err("refused");
        assert!(error.to_string().contains("mode 0644"), "{error}");
    }

    #[test]
    fn relative_directory_is_ignored() {
        assert!(Logins::of_user(&Environment::from([("XDG_CONFIG_HOME", "x")])).is_none());
    }
}
