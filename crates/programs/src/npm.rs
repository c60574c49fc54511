//! Agents of the npm registry that this program has no adapter of its own for: any package whose program speaks ACP.
//!
//! What such an agent needs is resolved once, written as a lock file with every hash, and kept: the same version is the same
//! files ever after. Its recipe, which says how it is started, lies beside the installation and goes with it.

mod range;
mod resolve;

use std::{
    collections::BTreeMap,
    fs::{self, File},
    io::{self, Read as _},
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};

use crate::{
    AGENTS, InstallError, Installed, InstalledPackage, Programs, Progress, Report,
    archive::make_runnable,
    lock::{Lock, Placed},
    place::{Held, Place, remove_if_there},
    plan::{Part, Platform},
    recipe::is_inside,
    versions::is_script,
};

/// How an agent of the registry is started. Written last but one: what has an installation has a recipe.
const RECIPE: &str = "recipe.json";

/// Names of directories beside the agents.
const RESERVED: [&str; 2] = ["template", "pins"];

const MAX_ID: usize = 40;

/// What is installed, and how.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct NpmWanted {
    /// The name that the agent gets.
    pub id: String,
    /// The package.
    pub package: String,
    /// A version, a range or a tag.
    pub version: String,
    /// The program of the package, if it has several.
    pub bin: Option<String>,
    /// What the program is given, such as `--acp`.
    pub args: Vec<String>,
    /// Environment variables that it starts with.
    pub env: BTreeMap<String, String>,
    /// Environment variables that a profile must set.
    pub needs: Vec<String>,
    /// Hosts that its sandbox may reach.
    pub hosts: Vec<String>,
}

/// The recipe of an agent: what it is made of, and how it is started.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct NpmRecipe {
    /// The name of the agent.
    pub id: String,
    /// Its package.
    pub package: String,
    /// The exact version.
    pub version: String,
    /// The program of the package.
    pub bin: String,
    /// What the program is given.
    #[serde(default)]
    pub args: Vec<String>,
    /// Environment variables that it starts with.
    #[serde(default)]
    pub env: BTreeMap<String, String>,
    /// Environment variables that a profile must set.
    #[serde(default)]
    pub needs: Vec<String>,
    /// Hosts that its sandbox may reach.
    #[serde(default)]
    pub hosts: Vec<String>,
}

impl From<NpmRecipe> for NpmWanted {
    /// The same once more.
    fn from(recipe: NpmRecipe) -> Self {
        let NpmRecipe { id, package, version, bin, args, env, needs, hosts } = recipe;
        Self { id, package, version, bin: Some(bin), args, env, needs, hosts }
    }
}

impl Programs {
    /// The agents of the registry that are installed, by name.
    #[must_use]
    pub fn npm_list(&self) -> Vec<(NpmRecipe, Installed)> {
        let entries = fs::read_dir(self.root()).into_iter().flatten().filter_map(Result::ok);
        let mut found: Vec<_> =
            entries.filter_map(|entry| self.npm_find(entry.file_name().to_str()?)).collect();
        found.sort_by(|a, b| a.0.id.cmp(&b.0.id));
        found
    }

    /// One of them.
    #[must_use]
    pub fn npm_find(&self, id: &str) -> Option<(NpmRecipe, Installed)> {
        if !is_id(id) || self.agent(id).is_some() {
            return None;
        }
        let text = fs::read(self.root().join(id).join(RECIPE)).ok()?;
        let recipe: NpmRecipe = serde_json::from_slice(&text).ok()?;
        let installed = Place::new(self.root(), id).read()?;
        (recipe.id == id).then_some((recipe, installed))
    }

    /// Installs a package with everything that it depends on, in place of what has its name.
    ///
    /// # Errors
    /// When the name or the program is not clear, or a package cannot be got, verified or written. What was installed before
    /// stays.
    pub async fn npm_install(
        &self,
        wanted: &NpmWanted,
        report: &Report,
    ) -> Result<(NpmRecipe, Installed), InstallError> {
        self.check_id(&wanted.id)?;
        self.make_root()?;
        let place = Place::new(self.root(), &wanted.id);
        let held = place.lock(Some(report)).await?;
        report(Progress::Resolving { package: format!("{}@{}", wanted.package, wanted.version) });
        let (version, lock) = self.npm_lock(wanted).await?;
        let bin = choose(wanted, &version, lock.bin(&wanted.package))?;
        let recipe = NpmRecipe {
            id: wanted.id.clone(),
            package: wanted.package.clone(),
            version: version.clone(),
            bin: bin.0,
            args: wanted.args.clone(),
            env: wanted.env.clone(),
            needs: wanted.needs.clone(),
            hosts: wanted.hosts.clone(),
        };
        let draft = place.draft(&held)?;
        let file = format!("node_modules/{}/{}", wanted.package, bin.1.trim_start_matches("./"));
        let made = self.npm_make(&recipe, &file, &lock, &draft, report, &held).await;
        let published = made.and_then(|installed| {
            self.keep_recipe(&recipe)?;
            place.publish(&draft, installed, &held)
        });
        if published.is_err()
            && let Err(error) = remove_if_there(&draft)
        {
            // It is no installation, and the next one begins by removing it.
            tracing::warn!(%error, "what a failed installation left was not removed");
        }
        let installed = published?;
        self.keep_lock(&self.npm_pin_path(&wanted.package, &version), &lock)?;
        Ok((recipe, installed))
    }

    fn check_id(&self, id: &str) -> Result<(), InstallError> {
        let refused = |problem| Err(InstallError::Id { id: id.to_owned(), problem });
        if !is_id(id) {
            return refused(
                "a name has 1 to 40 lower-case letters, digits and hyphens, and begins with a letter",
            );
        }
        let is_taken = self.agent(id).is_some() || AGENTS.iter().any(|agent| agent.name == id);
        if is_taken || RESERVED.contains(&id) {
            return refused("the name is taken");
        }
        Ok(())
    }

    /// The hashes that were pinned at the first installation, or those of the registry.
    async fn npm_lock(&self, wanted: &NpmWanted) -> Result<(String, Lock), InstallError> {
        if let Some(pinned) =
            self.read_lock(&wanted.id, &self.npm_pin_path(&wanted.package, &wanted.version))?
        {
            return Ok((wanted.version.clone(), pinned));
        }
        let registry = self.registry()?;
        let (version, lock) = resolve::resolve(wanted, self.platform(), &registry).await?;
        // A tag or a range may stand for a version that was installed before.
        let pinned = self.read_lock(&wanted.id, &self.npm_pin_path(&wanted.package, &version))?;
        Ok((version, pinned.unwrap_or(lock)))
    }

    async fn npm_make(
        &self,
        recipe: &NpmRecipe,
        file: &str,
        lock: &Lock,
        draft: &Path,
        report: &Report,
        held: &Held,
    ) -> Result<Installed, InstallError> {
        let registry = self.registry()?;
        let downloads = self.downloads(draft)?;
        let (mut packages, mut size_bytes) = (Vec::new(), 0);
        for placed in lock.placed(&Platform::this())? {
            report(Progress::Resolving { package: placed.pinned.id.to_string() });
            let part = Part::locate(&placed, &registry).await?;
            size_bytes += self.unpack(&part, &registry, &downloads, draft, report, held).await?;
            let Placed { pinned, directory, bin } = placed;
            // As npm does: some packages forget to say that their programs can be run, and start them by name.
            for file in bin.values().filter(|file| is_inside(file)) {
                let program = draft.join(&directory).join(file);
                if program.is_file() {
                    make_runnable(&program)
                        .map_err(|source| InstallError::Write { path: program.clone(), source })?;
                }
            }
            packages.push(InstalledPackage {
                name: pinned.id.name,
                version: pinned.id.version,
                integrity: pinned.integrity.to_string(),
            });
        }
        self.drop_downloads(&downloads)?;
        let program = draft.join(file);
        let head = begins(&program).map_err(|_| InstallError::NoProgram {
            package: format!("{}@{}", recipe.package, recipe.version),
            file: file.to_owned(),
        })?;
        make_runnable(&program).map_err(|source| InstallError::Write { path: program, source })?;
        Ok(Installed {
            name: recipe.id.clone(),
            version: recipe.version.clone(),
            packages,
            size_bytes,
            installed_at: self.now(),
            interpreter: is_script(file, &head).then(|| "node".to_owned()),
            file: file.to_owned(),
            path: Vec::new(),
            directory: PathBuf::new(),
        })
    }

    fn keep_recipe(&self, recipe: &NpmRecipe) -> Result<(), InstallError> {
        let path = self.root().join(&recipe.id).join(RECIPE);
        let draft = path.with_extension("json.new");
        let write = || -> io::Result<()> {
            let file = File::create(&draft)?;
            serde_json::to_writer_pretty(&file, recipe)?;
            file.sync_all()?;
            fs::rename(&draft, &path)
        };
        write().map_err(|source| InstallError::Write { path: path.clone(), source })
    }

    fn npm_pin_path(&self, package: &str, version: &str) -> PathBuf {
        // A range has characters that names of files should not have, and is pinned under no name.
        let name: String = format!("npm+{package}@{version}").replace('/', "+");
        self.root().join("pins").join(format!("{name}.json"))
    }
}

/// The program to start: its name and its file.
fn choose(
    wanted: &NpmWanted,
    version: &str,
    bins: BTreeMap<String, String>,
) -> Result<(String, String), InstallError> {
    let package = format!("{}@{version}", wanted.package);
    let names: Vec<String> = bins.keys().cloned().collect();
    let several = |wanted: Option<String>| InstallError::Bins {
        package: package.clone(),
        wanted,
        names: names.clone(),
    };
    let mut files: Vec<&str> = bins.values().map(|file| file.trim_start_matches("./")).collect();
    files.sort_unstable();
    files.dedup();
    let found = match &wanted.bin {
        _ if bins.is_empty() => return Err(InstallError::NoBin { package }),
        Some(name) => bins.iter().find(|(bin, _)| *bin == name).ok_or_else(|| several(Some(name.clone())))?,
        // Several names of one program are no choice.
        None if files.len() > 1 => return Err(several(None)),
        None => bins.iter().next().ok_or_else(|| several(None))?,
    };
    if !is_inside(found.1) {
        return Err(InstallError::Package {
            package,
            problem: format!("its program `{}` is outside of it", found.1),
        });
    }
    Ok((found.0.clone(), found.1.clone()))
}

fn is_id(id: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    id.len() <= MAX_ID
        && id.starts_with(|first: char| first.is_ascii_lowercase())
        && id.bytes().all(is_plain)
        && !RESERVED.contains(&id)
}

/// The beginning of a file.
fn begins(path: &Path) -> io::Result<Vec<u8>> {
    let mut head = Vec::new();
    File::open(path)?.take(128).read_to_end(&mut head)?;
    Ok(head)
}
