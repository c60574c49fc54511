//! Transcripts that people have, found and read.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use anyhow::{Context as _, Result, bail};
use warren_agents::{Adapter, Companions, adapter, adapters};

use crate::report::Advised;

/// A conversation as an agent left it on disk.
pub(crate) struct Found {
    pub(crate) main: Vec<u8>,
    /// Id and content, sorted by id.
    pub(crate) subagents: Vec<(String, Vec<u8>)>,
}

/// The agent of this name.
pub(crate) fn agent(name: &str) -> Result<&'static dyn Adapter> {
    adapter(name).ok_or_else(|| {
        let all: Vec<String> = adapters().iter().map(|agent| agent.agent_type().0).collect();
        Advised::new(format!("there is no agent `{name}`"), format!("it is one of {}", all.join(", "))).into()
    })
}

/// Reads a main transcript, and its subagents' from the further paths or from where the agent puts them.
pub(crate) fn read(agent: &dyn Adapter, paths: &[PathBuf]) -> Result<Found> {
    let Some((path, further)) = paths.split_first() else { bail!("no transcript was named") };
    let main = read_file(path)?;
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let companions = agent.companions(&name, &main);
    let files = match &companions {
        Some(companions) if further.is_empty() => {
            let directory = path.parent().unwrap_or(Path::new("")).join(&companions.directory);
            list(&directory).with_context(|| format!("failed to list `{}`", directory.display()))?
        }
        _ => further.to_vec(),
    };
    let mut subagents = Vec::new();
    for file in files {
        if let Some(id) = subagent_id(&file, companions.as_ref(), !further.is_empty()) {
            subagents.push((id, read_file(&file)?));
        }
    }
    subagents.sort();
    Ok(Found { main, subagents })
}

/// The subagent a file belongs to. One that was named is taken by its name, whatever that is.
fn subagent_id(path: &Path, companions: Option<&Companions>, was_named: bool) -> Option<String> {
    let name = path.file_name()?.to_string_lossy();
    let known = companions.and_then(|companions| companions.subagent(&name)).map(str::to_owned);
    known.or_else(|| was_named.then(|| path.file_stem().map(|stem| stem.to_string_lossy().into_owned()))?)
}

fn list(directory: &Path) -> io::Result<Vec<PathBuf>> {
    match fs::read_dir(directory) {
        Ok(entries) => entries
            .filter_map(|entry| {
                entry.map(|entry| Some(entry.path()).filter(|path| path.is_file())).transpose()
            })
            .collect(),
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            Ok(Vec::new())
        }
        Err(error) => Err(error),
    }
}

fn read_file(path: &Path) -> Result<Vec<u8>> {
    fs::read(path).with_context(|| format!("failed to read `{}`", path.display()))
}
