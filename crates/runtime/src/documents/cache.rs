//! The PDFs of a session's documents, so that each is made once. They are in its directory, and go with it.

use std::{
    fs, io,
    path::{Path, PathBuf},
    time::SystemTime,
};

use super::{LibreOffice, kind::Kind};

/// How many are kept, and how many bytes. The oldest go first.
const MAX_FILES: usize = 64;
const MAX_BYTES: u64 = 256 << 20;

/// Names a document, the format it was read as, and what converted it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Key(String);

impl Key {
    pub(super) fn of(document: blake3::Hash, kind: Kind, office: &LibreOffice) -> Self {
        let mut hasher = blake3::Hasher::new();
        hasher.update(document.as_bytes()).update(kind.read_by.as_bytes()).update(b"\0");
        hasher.update(office.version.as_bytes()).update(b"\0").update(include_bytes!("profile.xcu"));
        Self(hasher.finalize().to_hex().to_string())
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }

    fn path(&self, directory: &Path) -> PathBuf {
        directory.join(format!("{}.pdf", self.0))
    }
}

/// A PDF that is there.
pub(super) fn get(directory: &Path, key: &Key) -> io::Result<Option<fs::File>> {
    match fs::File::open(key.path(directory)) {
        Ok(file) => Ok(Some(file)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// Keeps a PDF, whole or not at all, and drops the oldest ones.
pub(super) fn put(directory: &Path, key: &Key, pdf: &[u8]) -> io::Result<()> {
    fs::create_dir_all(directory)?;
    let mut file = tempfile::NamedTempFile::new_in(directory)?;
    io::Write::write_all(&mut file, pdf)?;
    file.persist(key.path(directory)).map_err(|error| error.error)?;
    shrink(directory, MAX_FILES, MAX_BYTES)
}

fn shrink(directory: &Path, max_files: usize, max_bytes: u64) -> io::Result<()> {
    let mut found: Vec<(SystemTime, u64, PathBuf)> = Vec::new();
    for entry in fs::read_dir(directory)? {
        let entry = entry?;
        let metadata = entry.metadata()?;
        found.push((metadata.modified()?, metadata.len(), entry.path()));
    }
    found.sort_by(|a, b| b.cmp(a));
    let mut n_bytes = 0;
    for (n, (_, bytes, path)) in found.into_iter().enumerate() {
        n_bytes += bytes;
        // The newest stays, however large: somebody is about to read it.
        if n > 0 && (n >= max_files || n_bytes > max_bytes) {
            fs::remove_file(path)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::{
        fs,
        io::Read as _,
        time::{Duration, SystemTime},
    };

    use super::{Key, get, put, shrink};

    fn key(name: &str) -> Key {
        Key(name.to_owned())
    }

    #[test]
    fn kept_pdf_is_found_by_its_key_alone() {
        let directory = tempfile::tempdir().expect("a directory");
        let at = directory.path().join("converted");
        assert!(get(&at, &key("a")).expect("it is looked up").is_none());
        put(&at, &key("a"), b"%PDF-a").expect("it is kept");
        put(&at, &key("b"), b"%PDF-b").expect("it is kept");
        let mut text = String::new();
        get(&at, &key("a")).expect("looked up").expect("there").read_to_string(&mut text).expect("read");
        assert_eq!(text, "%PDF-a");
        assert!(get(&at, &key("c")).expect("it is looked up").is_none());
    }

    #[test]
    fn oldest_pdfs_are_dropped_beyond_the_limits() {
        let directory = tempfile::tempdir().expect("a directory");
        for age in 0..6_u64 {
            let path = directory.path().join(format!("{age}.pdf"));
            fs::write(&path, vec![0; 10]).expect("written");
            let time = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000 - age);
            fs::File::options()
                .write(true)
                .open(&path)
                .and_then(|file| file.set_modified(time))
                .expect("set");
        }
        let left = || {
            let names = fs::read_dir(directory.path()).expect("listed");
            let mut names: Vec<_> = names.map(|entry| entry.expect("an entry").file_name()).collect();
            names.sort();
            names
        };
        shrink(directory.path(), 4, 1_000).expect("shrunk");
        assert_eq!(left(), ["0.pdf", "1.pdf", "2.pdf", "3.pdf"]);
        shrink(directory.path(), 4, 25).expect("shrunk");
        assert_eq!(left(), ["0.pdf", "1.pdf"]);
        shrink(directory.path(), 4, 1).expect("shrunk");
        assert_eq!(left(), ["0.pdf"], "the newest stays");
    }
}
