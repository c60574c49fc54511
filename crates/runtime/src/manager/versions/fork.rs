//! Forks: a session of its own that goes on from a version of another.

use std::{
    collections::{HashMap, HashSet},
    io,
};

use bytes::Bytes;
use warren_agents::{Adapter, HasEffort, TranscriptName};
use warren_domain::{
    AgentType, BlobHash, Event, ForkedFrom, RunOptions, Seq, SessionId, VersionCause, unspill,
};
use warren_store::{SessionRecord, VersionRecord};

use super::files::tree_of;
use crate::{
    api::{Fork, Forked, NewSession, SessionError, Sessions as _, Versions as _, not_read},
    manager::{
        SessionManager,
        sessions::{First, find_adapter},
    },
    recorder::Pages,
    session::{Imported, Memory, Origin, STATE, workspace_files},
    spaces,
    spool::{Spool, SpooledBlocks},
};

/// The longest name a session may have, and what a fork adds to its origin's.
const LONGEST_NAME: usize = 200;
const FORK: &str = " (fork)";

/// More bytes of entries are not held at a time, unless one entry alone is longer.
const MAX_BATCH_BYTES: usize = 4 << 20;

impl SessionManager {
    pub(super) async fn fork(&self, fork: Fork) -> Result<Forked, SessionError> {
        let source = self.record(fork.session).await?;
        // Both before it is looked at: what is kept then is not collected before the new session has it.
        let _hold = self.shared.parts.snapshots.hold(&source.partition);
        let gate = self.shared.gate.clone().read_owned().await;
        let version = self.version_get(fork.session, fork.version.unwrap_or(source.version)).await?;
        let tree = tree_of(&version)?;
        let contents = self.contents(&source, &version).await?;
        // The new session keeps them once more, behind the same gate.
        drop(gate);
        let wanted = fork.agent_type.as_ref().unwrap_or(&source.agent_type);
        let (adapter, agent) = find_adapter(wanted, self.shared.parts.programs.as_ref())?;
        let is_same_agent = agent == source.agent_type;
        let from = ForkedFrom { session_id: fork.session, version: version.version };
        let (new, mut loss) = new_session(&source, &fork, adapter, &agent)?;
        loss.extend(self.left_behind(&fork, &version).await?);
        // All of it is looked at before anything is made.
        let (blocks, n_cut) = self.blocks_at(&source, &version).await?;
        if n_cut > 0 {
            loss.push(format!(
                "{n_cut} long texts of the conversation are truncated: the rest of them was deleted"
            ));
        }
        let listed = workspace_files(&self.shared.parts.snapshots, &source.partition, tree).await?;
        let created = self.create(new, Some(from), First::Later).await?;
        let session = created.record.session_id;
        let (files, state) =
            if is_same_agent { adopted(adapter, session, contents) } else { Default::default() };
        let origin = Origin { cause: VersionCause::Fork, version: Some(version), listed };
        let past = Imported { blocks, files, state, origin };
        self.finish_making(session, Ok(past)).await?;
        let summary = self.session_get(session).await?;
        Ok(Forked { summary, loss })
    }

    /// What a session has besides its latest version, if whoever forks it may take that for all of it.
    async fn left_behind(
        &self,
        fork: &Fork,
        version: &VersionRecord,
    ) -> Result<Option<String>, SessionError> {
        let is_running = self.roster.status(fork.session).running.is_some();
        let is_all = fork.version.is_some() || !(is_running || self.is_dirty(fork.session).await?);
        Ok((!is_all).then(|| {
            format!(
                "the session has uncommitted changes: the fork starts from version {} without them",
                version.version
            )
        }))
    }

    /// What was said until a version, and how many long texts of it are not there any more.
    async fn blocks_at(
        &self,
        source: &SessionRecord,
        version: &VersionRecord,
    ) -> Result<(SpooledBlocks, usize), SessionError> {
        let (log, session) = (self.shared.parts.store.log.as_ref(), source.session_id);
        let mut spool = Spool::new(&self.shared.options.directory);
        let mut gone = HashSet::new();
        let mut pages = Pages::after(Seq(0));
        while !pages.is_over() && pages.last_read() < version.seq {
            let page = pages
                .next(log, session)
                .await
                .map_err(|error| SessionError::internal("read the log", error))?;
            let mut batch = Batch::default();
            for entry in page.into_iter().filter(|entry| entry.seq <= version.seq) {
                let event = entry.event().map_err(|error| SessionError::internal("read the log", error))?;
                let long: u64 = event.spilled.iter().map(|field| field.size_bytes).sum();
                let n_bytes = entry.json.len() + usize::try_from(long).unwrap_or(usize::MAX);
                batch.push(self.whole(source, event, &mut gone).await?, n_bytes);
                if batch.n_bytes > MAX_BATCH_BYTES {
                    spool = std::mem::take(&mut batch).fold(spool).await?;
                }
            }
            spool = batch.fold(spool).await?;
        }
        let finished = tokio::task::spawn_blocking(move || spool.finish()).await;
        Ok((finished.map_err(io::Error::other).flatten().map_err(not_copied)?, gone.len()))
    }

    /// An entry with what the log has only the beginning of: the new session has to keep it itself.
    pub(in crate::manager) async fn whole(
        &self,
        source: &SessionRecord,
        event: Event,
        gone: &mut HashSet<BlobHash>,
    ) -> Result<Event, SessionError> {
        if event.spilled.is_empty() {
            return Ok(event);
        }
        let (space, blobs) =
            (spaces::of_log(&source.partition, source.session_id), &self.shared.parts.store.blobs);
        let mut found = HashMap::new();
        for field in &event.spilled {
            let bytes = blobs.blob(&space, &field.blob).await;
            let bytes = bytes.map_err(|error| SessionError::internal("read a long text", error))?;
            match bytes.and_then(|bytes| String::from_utf8(bytes.into()).ok()) {
                Some(text) => _ = found.insert(field.blob.clone(), text),
                None => _ = gone.insert(field.blob.clone()),
            }
        }
        Ok(unspill(event, |blob| found.get(blob).cloned()))
    }

    async fn contents(
        &self,
        source: &SessionRecord,
        version: &VersionRecord,
    ) -> Result<Vec<(String, Bytes)>, SessionError> {
        let blobs = self.shared.parts.store.blobs.as_ref();
        let memory =
            Memory::open(&source.partition, version.memory.as_ref(), blobs).await.map_err(not_read)?;
        memory.contents(&source.partition, blobs).await.map_err(not_read)
    }
}

/// Entries that are folded together.
#[derive(Default)]
struct Batch {
    events: Vec<(Event, usize)>,
    n_bytes: usize,
}

impl Batch {
    fn push(&mut self, event: Event, n_bytes: usize) {
        self.events.push((event, n_bytes));
        self.n_bytes = self.n_bytes.saturating_add(n_bytes);
    }

    async fn fold(self, mut spool: Spool) -> Result<Spool, SessionError> {
        let folded = tokio::task::spawn_blocking(move || {
            self.events.iter().try_for_each(|(event, n_bytes)| spool.apply(event, *n_bytes))?;
            Ok(spool)
        });
        folded.await.map_err(io::Error::other).flatten().map_err(not_copied)
    }
}

fn not_copied(error: io::Error) -> SessionError {
    SessionError::internal("copy the conversation", error)
}

/// What is to be made, and what it does not have of what it is made of.
fn new_session(
    source: &SessionRecord,
    fork: &Fork,
    adapter: &dyn Adapter,
    agent: &AgentType,
) -> Result<(NewSession, Vec<String>), SessionError> {
    let mut options: RunOptions = if source.options.is_null() {
        RunOptions::default()
    } else {
        serde_json::from_value(source.options.clone())
            .map_err(|error| SessionError::internal("read the session's options", error))?
    };
    let mut loss = Vec::new();
    if *agent != source.agent_type {
        loss.push(forgotten(source, agent));
        if let Some(effort) = options.effort.take_if(|_| adapter.has_effort() == HasEffort::No) {
            let effort = effort.as_str();
            loss.push(format!("the reasoning effort `{effort}`: `{agent}` has none"));
        }
        loss.extend(options.model.take().map(|model| {
            format!(
                "the model `{model}` was chosen for `{}`: `{agent}` starts with its own",
                source.agent_type
            )
        }));
    }
    let name = fork.name.clone().or_else(|| source.name.as_deref().map(name_of_fork));
    let new = NewSession {
        partition: source.partition.clone(),
        project: source.project_id,
        workspace: None,
        agent_type: agent.clone(),
        profile: fork.profile.clone().unwrap_or_else(|| source.profile.clone()),
        name,
        metadata: source.metadata.clone(),
        options,
        made_by: fork.made_by.clone(),
    };
    Ok((new, loss))
}

/// What a fork is called, within what names may be.
fn name_of_fork(name: &str) -> String {
    let name: String = name.chars().take(LONGEST_NAME - FORK.chars().count()).collect();
    format!("{name}{FORK}")
}

/// The agent's memory under the new session's name: what is stored, and what its codec must know.
fn adopted(
    adapter: &dyn Adapter,
    session: SessionId,
    contents: Vec<(String, Bytes)>,
) -> (Vec<(String, Bytes)>, Option<serde_json::Value>) {
    let mut state = None;
    let mut files = Vec::new();
    for (name, content) in contents {
        if content.is_empty() {
            continue;
        }
        if name == STATE {
            state = state.or_else(|| serde_json::from_slice(&content).ok());
            continue;
        }
        let content = match TranscriptName::of_stored(&name) {
            TranscriptName::Main => {
                let adopted = adapter.adopt(session, &content);
                // What the transcript itself says counts more than what was remembered beside it.
                state = adopted.state.or(state);
                Bytes::from(adopted.main)
            }
            TranscriptName::Subagent(_) => Bytes::from(adapter.adopt_subagent(content.into())),
            TranscriptName::Other(_) => content,
        };
        files.push((name, content));
    }
    (files, state)
}

fn forgotten(source: &SessionRecord, agent: &AgentType) -> String {
    format!(
        "`{agent}` cannot read the memory of `{}`: the conversation is shown, but the new agent starts without it and knows only the files",
        source.agent_type
    )
}

#[cfg(test)]
mod tests {
    use super::{LONGEST_NAME, name_of_fork};

    #[test]
    fn a_fork_is_named_after_its_origin_within_what_names_may_be() {
        assert_eq!(name_of_fork("shop"), "shop (fork)");
        let named = name_of_fork(&"ü".repeat(LONGEST_NAME));
        assert_eq!((named.chars().count(), named.ends_with("ü (fork)")), (LONGEST_NAME, true));
    }
}
