//! What one version of an agent is made of on this machine, and which file starts it.

use std::path::{Component, Path};

use crate::{
    Agent, InstallError, Program,
    lock::{Lock, Placed},
    plan::{Platform, plan},
};

/// An agent in one version.
pub(crate) struct Recipe {
    pub(crate) version: String,
    /// Its packages, the one with the program first.
    pub(crate) parts: Vec<Placed>,
    /// Files that may be the program, with what starts them; the first that is there is it.
    programs: Vec<(String, Option<String>)>,
}

impl Recipe {
    /// The version that this program was released with.
    pub(crate) fn pinned(agent: &Agent, platform: &Platform) -> Result<Self, InstallError> {
        let parts = plan(agent, platform, &Lock::of(agent)?)?;
        Ok(Self { version: agent.version.to_owned(), parts, programs: vec![program(agent, platform)] })
    }

    /// Another version, by a lock file of its own.
    pub(crate) fn of(agent: &Agent, platform: &Platform, lock: &Lock) -> Result<Self, InstallError> {
        let version = lock.version_of(agent.package).unwrap_or_default().to_owned();
        // A package for node is locked itself; a native program only by the package of its platform.
        let is_script = lock.contains(agent.package);
        let scripted = Agent { program: Program::Node { file: "", least_version: 0 }, ..*agent };
        let parts = plan(if is_script { &scripted } else { agent }, platform, lock)?;
        let node = || Some("node".to_owned());
        let bin = lock.bin(agent.package).into_values().filter(|file| is_inside(file));
        let bin = bin.map(|file| (file.trim_start_matches("./").to_owned(), node()));
        let programs = [program(agent, platform)].into_iter().chain(bin).collect();
        Ok(Self { version, parts, programs })
    }

    /// The program, and what starts it.
    pub(crate) fn program_in(&self, directory: &Path) -> Option<(String, Option<String>)> {
        self.programs.iter().find(|(file, _)| directory.join(file).is_file()).cloned()
    }

    /// The files that may be the program.
    pub(crate) fn files(&self) -> Vec<String> {
        self.programs.iter().map(|(file, _)| file.clone()).collect()
    }
}

fn program(agent: &Agent, platform: &Platform) -> (String, Option<String>) {
    match agent.program {
        Program::Native { file, .. } => (platform.fill(file), None),
        Program::Node { file, .. } => (file.to_owned(), Some("node".to_owned())),
    }
}

/// Whether a path of a stranger stays below where it is used.
pub(crate) fn is_inside(file: &str) -> bool {
    let is_plain = |part: Component<'_>| matches!(part, Component::Normal(_) | Component::CurDir);
    !file.is_empty() && Path::new(file).components().all(is_plain)
}
