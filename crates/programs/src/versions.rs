//! Versions other than the one this program was released with, and programs of one's own.
//!
//! No hash of such a version is built in. The registry's SHA-512 counts at its first installation and is kept: a later
//! installation of the same version with another content is refused.

use std::{
    fs::{self, File},
    io::{self, Read as _, Write as _},
    path::{Path, PathBuf},
};

use crate::{
    Agent, InstallError, Installed, InstalledPackage, Programs, Progress, Report,
    archive::make_runnable,
    integrity::Hasher,
    lock::{Lock, lock_of_version},
    place::{make_directory, remove_if_there},
    recipe::Recipe,
    registry::PackageId,
};

/// Where the hashes of first installations are kept, beside the agents.
const PINS: &str = "pins";
/// Where a program of one's own is put.
const LOCAL: &str = "bin";

impl Programs {
    /// Installs a version of an agent: a number, or a tag of the registry such as `latest`.
    ///
    /// # Errors
    /// When it cannot be got, verified or written, or is not what was pinned before. What was installed before stays.
    pub async fn install_version(
        &self,
        name: &str,
        version: &str,
        report: &Report,
    ) -> Result<Installed, InstallError> {
        let agent = self.agent(name).ok_or_else(|| InstallError::UnknownAgent { name: name.to_owned() })?;
        if version == agent.version {
            return self.install(name, report).await;
        }
        self.make_root()?;
        let place = self.place(agent);
        let held = place.lock(Some(report)).await?;
        report(Progress::Resolving { package: format!("{}@{version}", agent.package) });
        let lock = self.lock_for(agent, version).await?;
        let recipe = Recipe::of(agent, self.platform(), &lock)?;
        if recipe.version == agent.version {
            // A tag that stands for the version whose hashes are built in.
            drop(held);
            return self.install(name, report).await;
        }
        let is_same = |installed: &Installed| {
            let id = |package: &InstalledPackage| PackageId {
                name: package.name.clone(),
                version: package.version.clone(),
            };
            installed.version == recipe.version
                && installed.packages.iter().all(|package| lock.allows(&id(package), &package.integrity))
        };
        if let Some(installed) = place.read().filter(is_same) {
            return Ok(installed);
        }
        let installed = self.install_recipe(agent, &recipe, &place, report, &held).await?;
        self.pin(agent, &recipe.version, &lock)?;
        Ok(installed)
    }

    /// Installs a program of this machine as an agent. It is copied, so that later changes do not reach running sessions.
    ///
    /// # Errors
    /// When it cannot be read or written.
    pub async fn install_local(
        &self,
        name: &str,
        program: &Path,
        report: &Report,
    ) -> Result<Installed, InstallError> {
        let agent = self.agent(name).ok_or_else(|| InstallError::UnknownAgent { name: name.to_owned() })?;
        self.make_root()?;
        let place = self.place(agent);
        let held = place.lock(Some(report)).await?;
        let draft = place.draft(&held)?;
        let made = self.copy(agent, program, &draft);
        let published = made.and_then(|installed| place.publish(&draft, installed, &held));
        if published.is_err()
            && let Err(error) = remove_if_there(&draft)
        {
            // It is no installation, and the next one begins by removing it.
            tracing::warn!(%error, "what a failed installation left was not removed");
        }
        published
    }

    fn copy(&self, agent: &Agent, program: &Path, draft: &Path) -> Result<Installed, InstallError> {
        let refused = |problem: String| InstallError::Local {
            name: agent.name.to_owned(),
            path: program.to_owned(),
            problem,
        };
        if !program.is_file() {
            return Err(refused("it is not a file".to_owned()));
        }
        let write = |path: &Path| {
            let path = path.to_owned();
            move |source| InstallError::Write { path, source }
        };
        let directory = draft.join(LOCAL);
        make_directory(&directory).map_err(write(&directory))?;
        let file_name = program.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let target = directory.join(&file_name);
        let mut source = File::open(program).map_err(|error| refused(error.to_string()))?;
        let copied = copy_hashed(&mut source, &target).map_err(write(&target))?;
        make_runnable(&target).map_err(write(&target))?;
        let (size_bytes, hash, head) = copied;
        Ok(Installed {
            name: agent.name.to_owned(),
            version: format!("local-{}", hash.file_name().chars().take(12).collect::<String>()),
            packages: vec![InstalledPackage {
                name: program.display().to_string(),
                version: "local".to_owned(),
                integrity: hash.to_string(),
            }],
            size_bytes,
            installed_at: self.now(),
            interpreter: is_script(&file_name, &head).then(|| "node".to_owned()),
            file: format!("{LOCAL}/{file_name}"),
            path: Vec::new(),
            directory: PathBuf::new(),
        })
    }

    /// The hashes that were pinned at the first installation, or those of the registry.
    async fn lock_for(&self, agent: &Agent, version: &str) -> Result<Lock, InstallError> {
        let is_tag = version.starts_with(|first: char| first.is_ascii_alphabetic())
            && version.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-._".contains(&byte));
        if !is_tag && PackageId::of_dependency(agent.package, version).is_none() {
            return Err(InstallError::Version { name: agent.name.to_owned(), version: version.to_owned() });
        }
        if let Some(pinned) = self.pinned(agent, version)? {
            return Ok(pinned);
        }
        let lock = lock_of_version(agent, version, &[*self.platform()], &self.registry()?).await?;
        // A tag may stand for a version that was installed before.
        match lock.version_of(agent.package) {
            Some(found) if found != version => Ok(self.pinned(agent, found)?.unwrap_or(lock)),
            _ => Ok(lock),
        }
    }

    fn pinned(&self, agent: &Agent, version: &str) -> Result<Option<Lock>, InstallError> {
        self.read_lock(agent.name, &self.pin_path(agent, version))
    }

    pub(crate) fn read_lock(&self, owner: &str, path: &Path) -> Result<Option<Lock>, InstallError> {
        match fs::read_to_string(path) {
            Ok(text) => Lock::parse(owner, &text).map(Some),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(source) => Err(InstallError::Write { path: path.to_owned(), source }),
        }
    }

    fn pin(&self, agent: &Agent, version: &str, lock: &Lock) -> Result<(), InstallError> {
        self.keep_lock(&self.pin_path(agent, version), lock)
    }

    pub(crate) fn keep_lock(&self, path: &Path, lock: &Lock) -> Result<(), InstallError> {
        let draft = path.with_extension("json.new");
        let write = || -> io::Result<()> {
            if let Some(directory) = path.parent() {
                make_directory(directory)?;
            }
            let mut file = File::create(&draft)?;
            file.write_all(&serde_json::to_vec_pretty(lock)?)?;
            file.sync_all()?;
            fs::rename(&draft, path)
        };
        write().map_err(|source| InstallError::Write { path: path.to_owned(), source })
    }

    fn pin_path(&self, agent: &Agent, version: &str) -> PathBuf {
        self.root().join(PINS).join(format!("{}@{version}.json", agent.name))
    }
}

/// Copies a file; returns its length, its hash and its first bytes.
fn copy_hashed(source: &mut File, target: &Path) -> io::Result<(u64, crate::integrity::Integrity, Vec<u8>)> {
    let mut target = File::create(target)?;
    let (mut hasher, mut head, mut length) = (Hasher::new(), Vec::new(), 0);
    let mut buffer = vec![0; 1 << 20];
    loop {
        let n = source.read(&mut buffer)?;
        if n == 0 {
            break;
        }
        if head.is_empty() {
            head = buffer[..n.min(128)].to_vec();
        }
        hasher.update(&buffer[..n]);
        target.write_all(&buffer[..n])?;
        length += n as u64;
    }
    let hash = hasher.finish().ok_or_else(|| io::Error::other("the hash has another length"))?;
    Ok((length, hash, head))
}

/// Whether a file is started by node.
pub(crate) fn is_script(name: &str, head: &[u8]) -> bool {
    let first = head.split(|byte| *byte == b'\n').next().unwrap_or_default();
    let is_named_so = [".js", ".mjs", ".cjs"].iter().any(|end| name.ends_with(end));
    is_named_so || (first.starts_with(b"#!") && String::from_utf8_lossy(first).contains("node"))
}
