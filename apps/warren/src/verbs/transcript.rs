//! `warren transcript`: what agents wrote, as blocks. Needs no server and no sandbox.

use std::{
    fs::File,
    io::{self, BufRead, BufReader, Write as _},
    path::{Path, PathBuf},
};

use anyhow::{Context as _, Result};
use serde::Serialize;
use warren_agents::{Adapter, Exit, Output};
use warren_domain::{Block, ConversationId, Conversations, Draft, EventBody, Timestamp, Usage};

use crate::{cli, report::Outcome, transcripts};

/// What is printed.
#[derive(Serialize)]
struct Printed<'a> {
    blocks: &'a [Block],
    subagents: Vec<Thread<'a>>,
    usage: Option<Usage>,
    /// What nobody understood, cut where it gets long.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    unrecognized: Vec<String>,
}

#[derive(Serialize)]
struct Thread<'a> {
    id: &'a ConversationId,
    blocks: &'a [Block],
}

/// Runs the verb.
pub(crate) fn run(args: &cli::Transcript) -> Result<Outcome> {
    match args {
        cli::Transcript::Parse { agent, paths } => parse(transcripts::agent(agent)?, paths)?,
        cli::Transcript::Fold { agent, path, events } => {
            let agent = transcripts::agent(agent)?;
            if *events { print_events(agent, path)? } else { fold(agent, path)? }
        }
    }
    Ok(Outcome::Done)
}

fn parse(agent: &dyn Adapter, paths: &[PathBuf]) -> Result<()> {
    let found = transcripts::read(agent, paths)?;
    let parsed = agent.parse(&found.main, &found.subagents);
    drop(found);
    print(&parsed.conversations, parsed.usage, parsed.unrecognized)
}

fn fold(agent: &dyn Adapter, path: &Path) -> Result<()> {
    let mut conversations = Conversations::default();
    let (mut usage, mut unrecognized) = (None, Vec::new());
    for_each_output(agent, path, |output| {
        if let Output::Event(draft) = output {
            conversations.apply_draft(&draft);
            match draft.body {
                EventBody::MetadataUpdate { usage: spent, .. } => usage = Some(spent),
                EventBody::Unrecognized { raw, .. } => unrecognized.push(raw),
                _ => {}
            }
        }
        Ok(())
    })?;
    print(&conversations, usage, unrecognized)
}

fn print_events(agent: &dyn Adapter, path: &Path) -> Result<()> {
    let mut out = io::BufWriter::new(io::stdout().lock());
    for_each_output(agent, path, |output| {
        if let Output::Event(draft) = output {
            write_line(&mut out, &draft)?;
        }
        Ok(())
    })?;
    Ok(out.flush()?)
}

fn write_line(out: &mut impl io::Write, draft: &Draft) -> Result<()> {
    serde_json::to_writer(&mut *out, draft)?;
    Ok(out.write_all(b"\n")?)
}

/// Feeds a recording to the agent's codec, line by line.
fn for_each_output(
    agent: &dyn Adapter,
    path: &Path,
    mut each: impl FnMut(Output) -> Result<()>,
) -> Result<()> {
    let (mut input, at) = open(path)?;
    let mut codec = agent.recorded();
    let (mut line, mut outputs) = (Vec::new(), Vec::new());
    while input
        .read_until(b'\n', &mut line)
        .with_context(|| format!("failed to read `{}`", path.display()))?
        > 0
    {
        codec.decode(line.strip_suffix(b"\n").unwrap_or(&line), at, &mut outputs);
        outputs.drain(..).try_for_each(&mut each)?;
        line.clear();
    }
    codec.ended(&Exit::default(), at, &mut outputs);
    outputs.drain(..).try_for_each(each)
}

/// The recording, and the time of what has none of its own: when the file was last written.
fn open(path: &Path) -> Result<(Box<dyn BufRead>, Timestamp)> {
    if path == Path::new("-") {
        return Ok((Box::new(BufReader::new(io::stdin())), Timestamp::default()));
    }
    let file = File::open(path).with_context(|| format!("failed to open `{}`", path.display()))?;
    let modified = file.metadata().ok().and_then(|metadata| metadata.modified().ok());
    let since = modified.and_then(|at| at.duration_since(std::time::UNIX_EPOCH).ok()).unwrap_or_default();
    let at = Timestamp::from_millis(i64::try_from(since.as_millis()).unwrap_or(i64::MAX));
    Ok((Box::new(BufReader::with_capacity(1 << 20, file)), at))
}

fn print(conversations: &Conversations, usage: Option<Usage>, unrecognized: Vec<String>) -> Result<()> {
    let subagents = conversations.subagents().map(|(id, blocks)| Thread { id, blocks }).collect();
    let printed = Printed { blocks: conversations.main(), subagents, usage, unrecognized };
    let mut out = io::BufWriter::new(io::stdout().lock());
    serde_json::to_writer(&mut out, &printed)?;
    out.write_all(b"\n")?;
    Ok(out.flush()?)
}
