//! `warren transcript`: transcripts of agents as blocks. Needs no server and no sandbox.

use std::{
    fs::File,
    io::{self, BufRead, BufReader, Read as _, Write as _},
    path::{Path, PathBuf},
};

use anyhow::{Context as _, Result};
use serde::Serialize;
use serde_json::Value;
use warren_agents::{Adapter, Exit, Output};
use warren_domain::{Block, ConversationId, Conversations, Draft, EventBody, Timestamp, Usage};

use crate::{cli, report::Outcome, terminal::OutputError, transcripts};

/// What is printed.
#[derive(Serialize)]
struct Printed<'a> {
    blocks: &'a [Block],
    subagents: Vec<Thread<'a>>,
    usage: Option<Value>,
    /// What nobody understood, cut where it gets long.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    unrecognized: Vec<String>,
}

#[derive(Serialize)]
struct Thread<'a> {
    id: &'a ConversationId,
    blocks: &'a [Block],
}

/// What an agent once printed.
struct Recording {
    agent: &'static dyn Adapter,
    path: PathBuf,
    input: Box<dyn BufRead>,
    /// The time of what has none of its own.
    at: Timestamp,
}

/// Runs the verb.
pub(crate) fn run(args: &cli::Transcript) -> Result<Outcome> {
    match args {
        cli::Transcript::Parse { agent, paths } => parse(agent.as_deref(), paths)?,
        cli::Transcript::Fold { agent, path, events } => {
            let recording = Recording::open(agent.as_deref(), path)?;
            if *events { print_events(recording)? } else { fold(recording)? }
        }
    }
    Ok(Outcome::Done)
}

fn parse(agent: Option<&str>, paths: &[PathBuf]) -> Result<()> {
    let found = transcripts::read(agent, paths)?;
    let parsed = found.agent.parse(&found.main, &found.subagents);
    let usage = parsed.usage.as_ref().map(|usage| shown_usage(usage, found.agent));
    drop(found);
    Ok(print(&parsed.conversations, usage, parsed.unrecognized)?)
}

/// What was spent. What it cost is left out where nothing tells: that is not 0.
fn shown_usage(usage: &Usage, agent: &dyn Adapter) -> Value {
    let mut shown = serde_json::to_value(usage).unwrap_or_default();
    if let (true, Value::Object(fields)) = (usage.cost_usd == 0.0 && !agent.tells_cost(), &mut shown) {
        fields.remove("costUSD");
    }
    shown
}

fn fold(recording: Recording) -> Result<()> {
    let agent = recording.agent;
    let mut conversations = Conversations::default();
    let (mut usage, mut unrecognized) = (None, Vec::new());
    recording.for_each_output(|output| {
        if let Output::Event(draft) = output {
            conversations.apply_draft(&draft);
            match draft.body {
                EventBody::MetadataUpdate { usage: spent, .. } => usage = Some(shown_usage(&spent, agent)),
                EventBody::Unrecognized { raw, .. } => unrecognized.push(raw),
                _ => {}
            }
        }
        Ok(())
    })?;
    Ok(print(&conversations, usage, unrecognized)?)
}

fn print_events(recording: Recording) -> Result<()> {
    let mut out = io::BufWriter::new(io::stdout().lock());
    recording.for_each_output(|output| {
        if let Output::Event(draft) = output {
            write_line(&mut out, &draft)?;
        }
        Ok(())
    })?;
    Ok(out.flush().map_err(OutputError::from)?)
}

fn write_line(out: &mut impl io::Write, draft: &Draft) -> Result<(), OutputError> {
    serde_json::to_writer(&mut *out, draft).map_err(io::Error::from)?;
    Ok(out.write_all(b"\n")?)
}

impl Recording {
    /// Opens a recording of the agent of this name, or of the one that its beginning tells.
    fn open(agent: Option<&str>, path: &Path) -> Result<Self> {
        let (input, at) = open(path)?;
        let mut input = transcripts::decoded(input, path)?;
        let mut head = Vec::new();
        if agent.is_none() {
            let read = io::Read::by_ref(&mut input).take(transcripts::HEAD_BYTES).read_to_end(&mut head);
            read.with_context(|| format!("failed to read `{}`", path.display()))?;
        }
        let agent = transcripts::agent(agent, path, &head)?;
        Ok(Self { agent, path: path.to_owned(), input: Box::new(io::Cursor::new(head).chain(input)), at })
    }

    /// Feeds it to the agent's codec, line by line.
    fn for_each_output(mut self, mut each: impl FnMut(Output) -> Result<()>) -> Result<()> {
        let mut codec = self.agent.recorded();
        let (mut line, mut outputs) = (Vec::new(), Vec::new());
        while self
            .input
            .read_until(b'\n', &mut line)
            .with_context(|| format!("failed to read `{}`", self.path.display()))?
            > 0
        {
            codec.decode(line.strip_suffix(b"\n").unwrap_or(&line), self.at, &mut outputs);
            outputs.drain(..).try_for_each(&mut each)?;
            line.clear();
        }
        codec.ended(&Exit::default(), self.at, &mut outputs);
        outputs.drain(..).try_for_each(each)
    }
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

fn print(
    conversations: &Conversations,
    usage: Option<Value>,
    unrecognized: Vec<String>,
) -> Result<(), OutputError> {
    let subagents = conversations.subagents().map(|(id, blocks)| Thread { id, blocks }).collect();
    let printed = Printed { blocks: conversations.main(), subagents, usage, unrecognized };
    let mut out = io::BufWriter::new(io::stdout().lock());
    serde_json::to_writer(&mut out, &printed).map_err(io::Error::from)?;
    out.write_all(b"\n")?;
    Ok(out.flush()?)
}
