//! The file with the key that seals secrets. Without it, what is sealed in the database cannot be read.

use std::{
    io::{self, Write as _},
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
};

use warren_env::Env;
use warren_models::SealingKey;

/// Where the key is.
#[derive(Debug, Clone)]
pub(super) struct KeyFile {
    pub(super) path: PathBuf,
}

/// Why there is no key.
#[derive(Debug, thiserror::Error)]
pub(super) enum KeyFileError {
    #[error("there is no key file `{}`", .0.display())]
    Absent(PathBuf),
    #[error("the key file `{}` can be read by others; `chmod 600` it", .0.display())]
    Open(PathBuf),
    #[error("the key file `{}` does not hold a key", .0.display())]
    NoKey(PathBuf),
    #[error("failed to use the key file `{}`", path.display())]
    Io {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
}

impl KeyFile {
    /// The key, if the file is there.
    pub(super) fn read(&self) -> Result<SealingKey, KeyFileError> {
        let path = &self.path;
        let text = match std::fs::read_to_string(path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Err(KeyFileError::Absent(path.clone()));
            }
            Err(error) => return Err(self.io(error)),
        };
        let mode = std::fs::metadata(path).map_err(|error| self.io(error))?.permissions().mode();
        if mode & 0o077 != 0 {
            return Err(KeyFileError::Open(path.clone()));
        }
        key_of(&text).ok_or_else(|| KeyFileError::NoKey(path.clone()))
    }

    /// The key; makes the file if it is not there.
    pub(super) fn read_or_make(&self, env: &Env) -> Result<SealingKey, KeyFileError> {
        match self.read() {
            Err(KeyFileError::Absent(_)) => {}
            read => return read,
        }
        let random = env.random::<{ SealingKey::LEN }>().map_err(|error| self.io(io::Error::other(error)))?;
        let text = format!("{}\n", blake3::Hash::from_bytes(random).to_hex());
        let directory = self.path.parent().unwrap_or(Path::new("."));
        // Made whole under another name, readable by its owner only. If another process was faster, its key counts.
        let made = tempfile::NamedTempFile::new_in(directory).and_then(|mut file| {
            file.write_all(text.as_bytes())?;
            file.as_file().sync_all()?;
            match file.persist_noclobber(&self.path) {
                Ok(_) => Ok(()),
                Err(error) if error.error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
                Err(error) => Err(error.error),
            }
        });
        made.map_err(|error| self.io(error))?;
        self.read()
    }

    fn io(&self, source: io::Error) -> KeyFileError {
        KeyFileError::Io { path: self.path.clone(), source }
    }
}

fn key_of(text: &str) -> Option<SealingKey> {
    SealingKey::new(*blake3::Hash::from_hex(text.trim()).ok()?.as_bytes())
}

#[cfg(test)]
mod tests {
    use std::{fs, os::unix::fs::PermissionsExt as _};

    use warren_env::Env;
    use warren_models::Secret;

    use super::{KeyFile, KeyFileError};

    #[test]
    fn key_file_is_made_once_for_its_owner_only() {
        let directory = tempfile::tempdir().expect("a directory");
        let file = KeyFile { path: directory.path().join("providers.key") };
        assert!(matches!(file.read(), Err(KeyFileError::Absent(_))));
        let sealed = file.read_or_make(&Env::system()).expect("a key");
        let sealed = sealed.seal(&Secret::new("secret"), "p", &Env::system()).expect("randomness");
        let again = file.read_or_make(&Env::system()).expect("the same key");
        assert_eq!(again.open(&sealed, "p"), Ok(Secret::new("secret")));
        let mode = fs::metadata(&file.path).expect("a file").permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }

    #[test]
    fn file_that_others_can_read_or_that_holds_no_key_is_refused() {
        let directory = tempfile::tempdir().expect("a directory");
        let file = KeyFile { path: directory.path().join("providers.key") };
        file.read_or_make(&Env::system()).expect("a key");
        fs::set_permissions(&file.path, fs::Permissions::from_mode(0o640)).expect("permissions");
        assert!(matches!(file.read(), Err(KeyFileError::Open(_))));
        fs::set_permissions(&file.path, fs::Permissions::from_mode(0o600)).expect("permissions");
        fs::write(&file.path, "hello").expect("written");
        assert!(matches!(file.read_or_make(&Env::system()), Err(KeyFileError::NoKey(_))));
    }
}
