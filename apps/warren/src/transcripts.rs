//! Transcripts that people have, found and read.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use anyhow::{Context as _, Result, bail};
use warren_agents::{Adapter, Companions, adapter, adapters, detect};

use crate::report::Advised;

/// A conversation as an agent left it on disk.
pub(crate) struct Found {
    pub(crate) agent: &'static dyn Adapter,
    pub(crate) main: Vec<u8>,
    /// Id and content, sorted by id.
    pub(crate) subagents: Vec<(String, Vec<u8>)>,
}

/// The agent of this name, or else the one that wrote `content`, which is what is at `path`.
pub(crate) fn agent(name: Option<&str>, path: &Path, content: &[u8]) -> Result<&'static dyn Adapter> {
    let all = || adapters().iter().map(|agent| agent.agent_type().0).collect::<Vec<_>>().join(", ");
    match name {
        Some(name) => adapter(name).ok_or_else(|| {
            Advised::new(format!("there is no agent `{name}`"), format!("it is one of {}", all())).into()
        }),
        None => detect(content).ok_or_else(|| {
            let problem = format!("cannot tell which agent wrote `{}`", path.display());
            Advised::new(problem, format!("say it with `--agent`; it is one of {}", all())).into()
        }),
    }
}

/// Reads a main transcript, and its subagents' from the further paths or from where its agent puts them. The agent is
/// the one of this name, or the one that the main transcript tells.
pub(crate) fn read(name: Option<&str>, paths: &[PathBuf]) -> Result<Found> {
    let Some((path, further)) = paths.split_first() else { bail!("no transcript was named") };
    let main = read_file(path)?;
    let agent = agent(name, path, &main)?;
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
    Ok(Found { agent, main, subagents })
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
