//! What is in the `outputs/` of a new workspace.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs::{self, File},
    io::{self, Read as _},
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
};

use rustix::fs::{Mode, OFlags, open};
use warren_domain::BlobHash;
use warren_guest_api::DEFAULT_EXCLUDES;

/// How many files and directories a template may have. Each new session begins with all of them.
const MAX_ENTRIES: usize = 2_000;
/// How many bytes the files of a template may have together.
const MAX_BYTES: u64 = 64 << 20;

/// What is in a new workspace's `outputs/`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Template {
    /// Files, by path in `outputs/`.
    pub files: BTreeMap<String, TemplateFile>,
    /// Directories that have nothing in them, by path in `outputs/`.
    pub directories: BTreeSet<String>,
}

/// One file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TemplateFile {
    /// What is in it.
    pub content: Vec<u8>,
    /// 0644, or 0755 if it can be run.
    pub mode: u32,
}

/// Why a directory cannot be a template.
#[derive(Debug, thiserror::Error)]
pub enum TemplateError {
    /// It is too large.
    #[error("the template `{path}` has more than {MAX_ENTRIES} files or {MAX_BYTES} bytes")]
    TooLarge {
        /// The directory.
        path: PathBuf,
    },
    /// A name that no API could name.
    #[error("`{path}` in the template is not UTF-8")]
    Name {
        /// The file or directory.
        path: PathBuf,
    },
    /// It cannot be read.
    #[error("failed to read `{path}` of the template")]
    Read {
        /// The file or directory.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
}

impl TemplateError {
    /// What the operator can do about it.
    #[must_use]
    pub fn hint(&self) -> &'static str {
        match self {
            TemplateError::TooLarge { .. } => {
                "every new session starts with a copy of it: keep dependencies and data elsewhere"
            }
            TemplateError::Name { .. } => "rename it",
            TemplateError::Read { .. } => {
                "check that `storage.outputs_template_path` names a directory that the server can read"
            }
        }
    }
}

impl Template {
    /// Reads a directory. Links and whatever else is neither file nor directory are passed over, and so are the
    /// directories that no version has.
    ///
    /// # Errors
    /// When it cannot be read whole, or is too large.
    pub fn read(directory: &Path) -> Result<Self, TemplateError> {
        let mut reader = Reader { root: directory, template: Template::default(), n_bytes: 0 };
        reader.directory("")?;
        Ok(reader.template)
    }

    /// Its files as they lie in a workspace.
    pub(crate) fn hashes(&self) -> BTreeMap<String, BlobHash> {
        let hash = |file: &TemplateFile| BlobHash(blake3::hash(&file.content).to_hex().to_string());
        self.files.iter().map(|(path, file)| (format!("outputs/{path}"), hash(file))).collect()
    }
}

struct Reader<'a> {
    root: &'a Path,
    template: Template,
    n_bytes: u64,
}

impl Reader<'_> {
    /// What is in the directory `at`, relative to the root.
    fn directory(&mut self, at: &str) -> Result<(), TemplateError> {
        let path = self.root.join(at);
        let failed = |source| TemplateError::Read { path: path.clone(), source };
        let mut is_empty = true;
        for entry in fs::read_dir(&path).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            let kind = entry.file_type().map_err(failed)?;
            let name = entry.file_name().into_string();
            let name = name.map_err(|_| TemplateError::Name { path: entry.path() })?;
            let inside = if at.is_empty() { name.clone() } else { format!("{at}/{name}") };
            if kind.is_dir() && !DEFAULT_EXCLUDES.contains(&name.as_str()) {
                self.directory(&inside)?;
            } else if kind.is_file() {
                self.file(inside)?;
            } else {
                tracing::warn!(path = %entry.path().display(), "passed over in the template: not a file");
                continue;
            }
            is_empty = false;
        }
        if is_empty && !at.is_empty() {
            self.template.directories.insert(at.to_owned());
        }
        self.check()
    }

    fn file(&mut self, inside: String) -> Result<(), TemplateError> {
        let path = self.root.join(&inside);
        let failed = |source| TemplateError::Read { path: path.clone(), source };
        // What was a file a moment ago may be a link or a pipe by now.
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let file = File::from(open(&path, flags, Mode::empty()).map_err(|error| failed(error.into()))?);
        let is_runnable = file.metadata().map_err(failed)?.permissions().mode() & 0o111 != 0;
        let mut content = Vec::new();
        file.take(MAX_BYTES - self.n_bytes + 1).read_to_end(&mut content).map_err(failed)?;
        self.n_bytes += u64::try_from(content.len()).unwrap_or(u64::MAX);
        let mode = if is_runnable { 0o755 } else { 0o644 };
        self.template.files.insert(inside, TemplateFile { content, mode });
        self.check()
    }

    fn check(&self) -> Result<(), TemplateError> {
        let n_entries = self.template.files.len() + self.template.directories.len();
        let is_too_large = n_entries > MAX_ENTRIES || self.n_bytes > MAX_BYTES;
        if is_too_large { Err(TemplateError::TooLarge { path: self.root.to_owned() }) } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use std::{
        fs::{self, File},
        os::unix::fs::{PermissionsExt as _, symlink},
    };

    use super::{MAX_BYTES, MAX_ENTRIES, Template, TemplateError};

    #[test]
    fn files_and_empty_directories_are_read_and_links_and_dependencies_are_not() {
        let directory = tempfile::tempdir().expect("a directory");
        let at = |path: &str| directory.path().join(path);
        for path in ["web/src", "web/node_modules/x", "documents"] {
            fs::create_dir_all(at(path)).expect("a directory");
        }
        fs::write(at("web/src/page.js"), "page").expect("a file");
        fs::write(at("web/node_modules/x/index.js"), "x").expect("a file");
        fs::write(at("run.sh"), "run").expect("a file");
        fs::set_permissions(at("run.sh"), fs::Permissions::from_mode(0o700)).expect("a mode");
        symlink("/etc/passwd", at("link")).expect("a link");
        symlink("/etc", at("web/etc")).expect("a link");
        let template = Template::read(directory.path()).expect("a template");
        let files: Vec<_> =
            template.files.iter().map(|(path, file)| (path.as_str(), &file.content[..], file.mode)).collect();
        assert_eq!(files, [("run.sh", &b"run"[..], 0o755), ("web/src/page.js", &b"page"[..], 0o644)]);
        assert_eq!(template.directories.iter().collect::<Vec<_>>(), ["documents"]);
        assert_eq!(
            template.hashes()["outputs/run.sh"].0,
            blake3::hash(b"run").to_hex().to_string(),
            "by the path in the workspace"
        );
    }

    #[test]
    fn what_is_too_large_or_not_there_is_refused() {
        let directory = tempfile::tempdir().expect("a directory");
        let refused = || Template::read(directory.path()).expect_err("refused");
        let large = directory.path().join("large");
        File::create(&large).and_then(|file| file.set_len(MAX_BYTES + 1)).expect("a large file");
        assert!(matches!(refused(), TemplateError::TooLarge { .. }));
        fs::remove_file(large).expect("removed");
        for n in 0..=MAX_ENTRIES {
            fs::create_dir(directory.path().join(n.to_string())).expect("a directory");
        }
        assert!(matches!(refused(), TemplateError::TooLarge { .. }));
        let absent = Template::read(&directory.path().join("absent")).expect_err("refused");
        assert!(matches!(absent, TemplateError::Read { .. }));
    }
}
