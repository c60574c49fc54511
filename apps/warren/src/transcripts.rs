//! Transcripts that people have, found and read.

mod decode;

use std::{
    fs, io,
    io::Read as _,
    path::{Path, PathBuf},
    time::SystemTime,
};

use anyhow::{Context as _, Result, bail};
use warren_agents::{Adapter, Companions, adapter, adapters, detect};

pub(crate) use decode::decoded;
use decode::lines_of_array;

use crate::report::Advised;

/// As much of a file as tells its agent.
pub(crate) const HEAD_BYTES: u64 = 256 << 10;
/// Directories below the named one are searched this deep.
const MAX_DEPTH: usize = 6;

/// A conversation as an agent left it on disk.
pub(crate) struct Found {
    pub(crate) agent: &'static dyn Adapter,
    pub(crate) main: Vec<u8>,
    /// ID and content, sorted by ID.
    pub(crate) subagents: Vec<(String, Vec<u8>)>,
    /// The file of the main transcript; `None` for standard input.
    pub(crate) path: Option<PathBuf>,
}

/// The agent of this name, or else the one that wrote `content`, which is what is at `path`.
pub(crate) fn agent(name: Option<&str>, path: &Path, content: &[u8]) -> Result<&'static dyn Adapter> {
    let all = || adapters().iter().map(|agent| agent.agent_type().0).collect::<Vec<_>>().join(", ");
    match name {
        Some(name) => adapter(name).ok_or_else(|| {
            Advised::new(format!("there is no agent `{name}`"), format!("the agents are {}", all())).into()
        }),
        None => detect(content).ok_or_else(|| {
            let problem = format!("`{}` is not a transcript of a known agent", path.display());
            Advised::new(problem, format!("name the agent with `--agent`: {}", all())).into()
        }),
    }
}

/// Reads a main transcript, and those of its subagents from the further paths or from where its agent puts them. The agent is
/// the one of this name, or the one that the main transcript tells.
pub(crate) fn read(name: Option<&str>, paths: &[PathBuf]) -> Result<Found> {
    let Some((path, further)) = paths.split_first() else { bail!("no transcript was named") };
    let path = &if path.is_dir() { newest_in(path, name)? } else { path.clone() };
    let main = read_file(path)?;
    let main =
        lines_of_array(&main).filter(|lines| name.is_some() || detect(lines).is_some()).unwrap_or(main);
    let agent = agent(name, path, &main)?;
    let is_stdin = path == Path::new("-");
    let companions = agent.companions(&transcript_name(path), &main);
    let mut subagents = Vec::new();
    if further.is_empty() && !is_stdin {
        subagents = subagents_of(agent, path, &main, companions.as_ref())?;
    }
    for file in further {
        if let Some(id) = subagent_id(file, companions.as_ref()) {
            subagents.push((id, read_file(file)?));
        }
    }
    subagents.sort();
    Ok(Found { agent, main, subagents, path: (!is_stdin).then(|| path.clone()) })
}

/// The transcripts of subagents where the agent puts them: in a directory of their own, or beside the main one.
fn subagents_of(
    agent: &dyn Adapter,
    path: &Path,
    main: &[u8],
    companions: Option<&Companions>,
) -> Result<Vec<(String, Vec<u8>)>> {
    let directory = path.parent().unwrap_or(Path::new(""));
    let mut subagents = Vec::new();
    if let Some(companions) = companions {
        for file in listed(&directory.join(&companions.directory))? {
            if let Some(id) = companions.subagent(&transcript_name(&file)) {
                subagents.push((id.to_owned(), read_file(&file)?));
            }
        }
    }
    let main_name = transcript_name(path);
    for file in listed(directory)? {
        let head = || head(&file).unwrap_or_default();
        let id = agent.beside((&main_name, main), &transcript_name(&file), &head);
        if let Some(id) = id.filter(|id| subagents.iter().all(|(known, _)| known != id)) {
            subagents.push((id, read_file(&file)?));
        }
    }
    Ok(subagents)
}

/// A file's name without the ending of its compression.
fn transcript_name(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    name.trim_end_matches(".gz").to_owned()
}

/// The transcript in a directory that was written last.
fn newest_in(directory: &Path, name: Option<&str>) -> Result<PathBuf> {
    let shown = directory.display();
    let mut found = Vec::new();
    collect(directory, 0, &mut found).with_context(|| format!("failed to search `{shown}`"))?;
    found.sort_by(|one, other| other.cmp(one));
    let is_meant = |path: &Path| {
        let written_by = head(path).ok().and_then(|head| detect(&head));
        written_by.is_some_and(|agent| name.is_none_or(|name| agent.agent_type().0 == name))
    };
    let newest = found.into_iter().map(|(_, path)| path).find(|path| is_meant(path));
    let Some(newest) = newest else {
        let advice =
            "name a file; Claude Code keeps its own in ~/.claude/projects, Codex in ~/.codex/sessions";
        bail!(Advised::new(format!("there is no transcript in `{shown}`"), advice));
    };
    eprintln!("reading {}, the newest transcript in {shown}", newest.display());
    Ok(newest)
}

/// Files that may be main transcripts, with the time of their last change.
fn collect(directory: &Path, depth: usize, found: &mut Vec<(SystemTime, PathBuf)>) -> io::Result<()> {
    for entry in fs::read_dir(directory)? {
        let (path, kind) = entry.and_then(|entry| Ok((entry.path(), entry.file_type()?)))?;
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if kind.is_dir() && depth < MAX_DEPTH && name != "subagents" {
            collect(&path, depth + 1, found)?;
        }
        let is_transcript = [".jsonl", ".json"].iter().any(|end| name.trim_end_matches(".gz").ends_with(end));
        if kind.is_file() && is_transcript && !name.starts_with("agent-") {
            found.push((fs::metadata(&path)?.modified()?, path));
        }
    }
    Ok(())
}

fn head(path: &Path) -> Result<Vec<u8>> {
    let mut head = Vec::new();
    let file = io::BufReader::new(fs::File::open(path)?);
    decoded(Box::new(file), path)?.take(HEAD_BYTES).read_to_end(&mut head)?;
    Ok(head)
}

/// The subagent a file belongs to that was named: by its name, whatever that is.
fn subagent_id(path: &Path, companions: Option<&Companions>) -> Option<String> {
    let name = transcript_name(path);
    let known = companions.and_then(|companions| companions.subagent(&name)).map(str::to_owned);
    known.or_else(|| Path::new(&name).file_stem().map(|stem| stem.to_string_lossy().into_owned()))
}

/// The files of a directory; none if it is not there.
fn listed(directory: &Path) -> Result<Vec<PathBuf>> {
    let directory = if directory == Path::new("") { Path::new(".") } else { directory };
    list(directory).with_context(|| format!("failed to list `{}`", directory.display()))
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

/// A whole file, or standard input.
fn read_file(path: &Path) -> Result<Vec<u8>> {
    let failed = || format!("failed to read `{}`", path.display());
    let input: Box<dyn io::BufRead> = if path == Path::new("-") {
        Box::new(io::BufReader::new(io::stdin()))
    } else {
        Box::new(io::BufReader::new(fs::File::open(path).with_context(failed)?))
    };
    let mut content = Vec::new();
    decoded(input, path)?.read_to_end(&mut content).with_context(failed)?;
    Ok(content)
}

#[cfg(test)]
mod tests {
    use std::{fs, io::Write as _};

    use super::{newest_in, read};

    const LINE: &str = r#"{"type":"user","uuid":"1","sessionId":"s","timestamp":"2026-01-01T00:00:00.000Z","message":{"role":"user","content":"hi"}}"#;

    #[test]
    fn directory_stands_for_its_newest_main_transcript() {
        let root = tempfile::tempdir().expect("a directory");
        let project = root.path().join("projects/x");
        fs::create_dir_all(project.join("subagents")).expect("made");
        for (n, name) in ["old.jsonl", "new.jsonl", "notes.json", "agent-1.jsonl", "subagents/agent-2.jsonl"]
            .iter()
            .enumerate()
        {
            let path = project.join(name);
            fs::write(&path, if *name == "notes.json" { "{}".to_owned() } else { format!("{LINE}\n") })
                .expect("written");
            let at = std::time::UNIX_EPOCH + std::time::Duration::from_secs(1000 + n as u64);
            fs::File::options()
                .write(true)
                .open(&path)
                .and_then(|file| file.set_modified(at))
                .expect("a time");
        }
        assert_eq!(newest_in(root.path(), None).expect("found"), project.join("new.jsonl"));
        assert_eq!(newest_in(root.path(), Some("claude-code")).expect("found"), project.join("new.jsonl"));
        let error = newest_in(root.path(), Some("codex")).expect_err("none of Codex");
        assert!(error.to_string().contains("there is no transcript in"), "{error}");
    }

    #[test]
    fn subagents_are_found_in_their_directory_and_beside_the_transcript() {
        let root = tempfile::tempdir().expect("a directory");
        let line = |session: &str| LINE.replace(r#""sessionId":"s""#, &format!(r#""sessionId":"{session}""#));
        let write = |name: &str, session: &str| {
            let path = root.path().join(name);
            fs::create_dir_all(path.parent().expect("a directory")).expect("made");
            fs::write(&path, line(session) + "\n").expect("written");
            path
        };
        let main = write("one.jsonl", "one");
        write("one/subagents/agent-a.jsonl", "one");
        write("agent-a.jsonl", "one");
        write("agent-b.jsonl", "one");
        write("agent-c.jsonl", "two");
        write("two.jsonl", "two");
        let ids = |paths: &[std::path::PathBuf]| -> Vec<String> {
            read(None, paths).expect("read").subagents.into_iter().map(|(id, _)| id).collect()
        };
        assert_eq!(ids(std::slice::from_ref(&main)), ["a", "b"]);
        assert_eq!(ids(&[main, root.path().join("agent-c.jsonl")]), ["c"], "only what was named");
    }

    #[test]
    fn compressed_transcripts_and_arrays_of_lines_are_read() {
        let root = tempfile::tempdir().expect("a directory");
        let gz = root.path().join("a.jsonl.gz");
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(format!("\u{feff}{LINE}\n").as_bytes()).expect("compressed");
        fs::write(&gz, encoder.finish().expect("compressed")).expect("written");
        let array = root.path().join("b.json");
        fs::write(&array, format!("[{LINE},\n{LINE}]")).expect("written");
        for (path, n_lines) in [(gz, 1), (array, 2)] {
            let found = read(None, &[path]).expect("read");
            assert_eq!(
                (
                    found.agent.agent_type().0.as_str(),
                    found.main.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()).count()
                ),
                ("claude-code", n_lines)
            );
        }
    }
}
