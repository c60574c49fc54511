//! What can be done with agents' programs.

use std::path::{Path, PathBuf};

use warren_env::Env;

use crate::{
    AGENTS, Agent, InstallError, Installed, InstalledPackage, Progress, RemoveError, Report, archive,
    lock::Lock,
    place::{Held, Place, make_directory, remove_if_there},
    plan::{Part, Platform, companions},
    recipe::Recipe,
    registry::{PackageId, Plain, Registry},
    unpack::Limits,
};

/// What is needed to install agents.
#[derive(Debug, Clone)]
pub struct Options {
    /// The directory of all agents; it need not exist.
    pub directory: PathBuf,
    /// The npm registry's address.
    pub registry: String,
    /// Where the registry may be asked by plain HTTP.
    pub plain: Plain,
    /// Where archives are kept after their use, for others that use the same directory. `None`: nowhere.
    pub cache: Option<PathBuf>,
    /// The agents there are.
    pub agents: &'static [Agent],
}

impl Options {
    /// The agents of the table, from `registry` into `directory`, without a cache.
    #[must_use]
    pub fn new(directory: PathBuf, registry: impl Into<String>) -> Self {
        Self { directory, registry: registry.into(), plain: Plain::LoopbackOnly, cache: None, agents: AGENTS }
    }
}

/// Agents' programs in one directory. A cheap clone.
#[derive(Clone)]
pub struct Programs {
    options: Options,
    platform: Platform,
    limits: Limits,
    env: Env,
}

/// An agent, and what is installed of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentStatus {
    /// The agent as it is known.
    pub agent: Agent,
    /// What is there, maybe in another version.
    pub installed: Option<Installed>,
}

impl AgentStatus {
    /// Whether what is there is the pinned version, with all that belongs to it.
    #[must_use]
    pub fn is_current(&self) -> bool {
        self.installed.as_ref().is_some_and(|installed| is_whole(&self.agent, installed))
    }
}

/// Whether an installation is what an installation would make now: made of nothing but pinned packages, too.
fn is_whole(agent: &Agent, installed: &Installed) -> bool {
    let Ok(lock) = Lock::of(agent) else { return false };
    let id = |package: &InstalledPackage| PackageId {
        name: package.name.clone(),
        version: package.version.clone(),
    };
    let is_there = |wanted: &PackageId| installed.packages.iter().any(|package| id(package) == *wanted);
    installed.version == agent.version
        && installed.packages.iter().all(|package| lock.allows(&id(package), &package.integrity))
        && companions(agent, &Platform::this()).all(|id| is_there(&id))
}

impl Programs {
    /// Reads nothing yet and connects to nothing.
    #[must_use]
    pub fn new(options: Options, env: Env) -> Self {
        Self { options, platform: Platform::this(), limits: Limits::default(), env }
    }

    /// Every agent that is known, in the order of the table.
    #[must_use]
    pub fn list(&self) -> Vec<AgentStatus> {
        let status = |agent: &Agent| AgentStatus { agent: *agent, installed: self.find(agent.name) };
        self.options.agents.iter().map(status).collect()
    }

    /// The program of an agent, if it is installed.
    #[must_use]
    pub fn find(&self, name: &str) -> Option<Installed> {
        let agent = self.agent(name)?;
        self.place(agent).read()
    }

    /// Installs the pinned version of an agent, unless it is there. Two at once do not clash: the second waits, and finds
    /// what the first one did.
    ///
    /// # Errors
    /// When it cannot be got, verified or written. What was installed before stays.
    pub async fn install(&self, name: &str, report: &Report) -> Result<Installed, InstallError> {
        let agent = self.agent(name).ok_or_else(|| InstallError::UnknownAgent { name: name.to_owned() })?;
        let place = self.place(agent);
        self.make_root()?;
        let held = place.lock(Some(report)).await?;
        if let Some(installed) = place.read().filter(|installed| is_whole(agent, installed)) {
            return Ok(installed);
        }
        let recipe = Recipe::pinned(agent, &self.platform)?;
        self.install_recipe(agent, &recipe, &place, report, &held).await
    }

    /// Installs what a recipe says in place of what is there.
    pub(crate) async fn install_recipe(
        &self,
        agent: &Agent,
        recipe: &Recipe,
        place: &Place,
        report: &Report,
        held: &Held,
    ) -> Result<Installed, InstallError> {
        let draft = place.draft(held)?;
        let made = self.make(agent, recipe, &draft, report, held).await;
        let published = made.and_then(|installed| place.publish(&draft, installed, held));
        if published.is_err()
            && let Err(error) = remove_if_there(&draft)
        {
            // It is no installation, and the next one begins by removing it.
            tracing::warn!(%error, "what a failed installation left was not removed");
        }
        published
    }

    /// Removes every version of an agent.
    ///
    /// # Errors
    /// When there is none, or the disk does not let it go.
    pub async fn remove(&self, name: &str) -> Result<(), RemoveError> {
        let absent = || RemoveError::NotInstalled { name: name.to_owned() };
        let place = match self.agent(name) {
            Some(agent) => self.place(agent),
            None if self.npm_find(name).is_some() => Place::new(self.root(), name),
            None => return Err(absent()),
        };
        self.clear(&place, name).await
    }

    /// Removes whatever is in a place.
    pub(crate) async fn clear(&self, place: &Place, name: &str) -> Result<(), RemoveError> {
        let absent = || RemoveError::NotInstalled { name: name.to_owned() };
        if place.read().is_none() {
            return Err(absent());
        }
        let held = place.lock(None).await.map_err(|error| match error {
            InstallError::Write { path, source } => RemoveError::Remove { path, source },
            other => RemoveError::Remove {
                path: self.options.directory.clone(),
                source: std::io::Error::other(other),
            },
        })?;
        match place.clear(&held) {
            Ok(true) => Ok(()),
            Ok(false) => Err(absent()),
            Err((path, source)) => Err(RemoveError::Remove { path, source }),
        }
    }

    /// Gets, verifies and unpacks all parts of an agent into `draft`.
    async fn make(
        &self,
        agent: &Agent,
        recipe: &Recipe,
        draft: &Path,
        report: &Report,
        held: &Held,
    ) -> Result<Installed, InstallError> {
        report(Progress::Resolving { package: format!("{}@{}", agent.package, recipe.version) });
        let registry = self.registry()?;
        let mut parts = Vec::new();
        for placed in &recipe.parts {
            parts.push(Part::locate(placed, &registry).await?);
        }
        let downloads = self.downloads(draft)?;
        let mut size_bytes = 0;
        for part in &parts {
            size_bytes += self.unpack(part, &registry, &downloads, draft, report, held).await?;
        }
        self.drop_downloads(&downloads)?;
        self.describe(agent, recipe, &parts, draft, size_bytes)
    }

    /// The registry that packages come from.
    pub(crate) fn registry(&self) -> Result<Registry, InstallError> {
        Registry::new(&self.options.registry, self.options.plain)
    }

    /// Where archives are put while something is installed in `draft`.
    pub(crate) fn downloads(&self, draft: &Path) -> Result<PathBuf, InstallError> {
        let downloads = match &self.options.cache {
            Some(cache) => cache.clone(),
            None => draft.join(".downloads"),
        };
        let made = make_directory(&downloads);
        made.map_err(|source| InstallError::Write { path: downloads.clone(), source })?;
        Ok(downloads)
    }

    /// Archives go once they are unpacked, unless they are kept for others.
    pub(crate) fn drop_downloads(&self, downloads: &Path) -> Result<(), InstallError> {
        if self.options.cache.is_some() {
            return Ok(());
        }
        remove_if_there(downloads)
            .map_err(|source| InstallError::Write { path: downloads.to_owned(), source })
    }

    /// One part. A cached archive that is not what it should be is got anew, once.
    pub(crate) async fn unpack(
        &self,
        part: &Part,
        registry: &Registry,
        downloads: &Path,
        draft: &Path,
        report: &Report,
        held: &Held,
    ) -> Result<u64, InstallError> {
        let root = draft.join(&part.directory);
        make_directory(&root).map_err(|source| InstallError::Write { path: root.clone(), source })?;
        let mut is_second = false;
        loop {
            let archive = archive::get(&part.package, registry, downloads, report).await?;
            let open = archive::open(
                &part.package,
                archive.clone(),
                root.clone(),
                self.limits,
                report,
                held.clone(),
            );
            match open.await {
                Err(InstallError::Integrity { .. }) if !is_second => {
                    is_second = true;
                    // What it brought with it must not stay either.
                    for path in [&archive, &root] {
                        remove_if_there(path)
                            .map_err(|source| InstallError::Write { path: path.clone(), source })?;
                    }
                    for path in [downloads, &root] {
                        make_directory(path)
                            .map_err(|source| InstallError::Write { path: path.to_owned(), source })?;
                    }
                }
                ended => return ended,
            }
        }
    }

    /// The record of what was made, once the program is known to be in it.
    fn describe(
        &self,
        agent: &Agent,
        recipe: &Recipe,
        parts: &[Part],
        draft: &Path,
        size_bytes: u64,
    ) -> Result<Installed, InstallError> {
        let Some((file, interpreter)) = recipe.program_in(draft) else {
            let package = parts.first().map(|part| part.package.id.to_string()).unwrap_or_default();
            return Err(InstallError::NoProgram { package, file: recipe.files().join("` or `") });
        };
        let program = draft.join(&file);
        // Some packages forget it.
        archive::make_runnable(&program).map_err(|source| InstallError::Write { path: program, source })?;
        let packages = parts.iter().map(|Part { package, .. }| InstalledPackage {
            name: package.id.name.clone(),
            version: package.id.version.clone(),
            integrity: package.integrity.to_string(),
        });
        Ok(Installed {
            name: agent.name.to_owned(),
            version: recipe.version.clone(),
            packages: packages.collect(),
            size_bytes,
            installed_at: self.now(),
            file,
            interpreter,
            path: agent.path.iter().map(|part| self.platform.fill(part)).collect(),
            directory: PathBuf::new(),
        })
    }

    pub(crate) fn agent(&self, name: &str) -> Option<&'static Agent> {
        self.options.agents.iter().find(|agent| agent.name == name)
    }

    /// The directory of everything that is installed.
    pub(crate) fn root(&self) -> &Path {
        &self.options.directory
    }

    pub(crate) fn make_root(&self) -> Result<(), InstallError> {
        make_directory(self.root())
            .map_err(|source| InstallError::Write { path: self.root().to_owned(), source })
    }

    pub(crate) fn now(&self) -> String {
        self.env.now().to_string()
    }

    pub(crate) fn platform(&self) -> &Platform {
        &self.platform
    }

    pub(crate) fn place(&self, agent: &Agent) -> Place {
        Place::new(&self.options.directory, agent.name)
    }
}
