//! Forks: a session of its own that goes on from a version of another.

use bytes::Bytes;
use warren_agents::{Adapter, TranscriptName};
use warren_domain::{Conversations, ForkedFrom, RunOptions, SessionId, VersionCause};
use warren_store::{SessionRecord, VersionRecord};

use super::files::tree_of;
use crate::{
    api::{Fork, Forked, NewSession, SessionError, Sessions as _, Versions as _, damaged},
    manager::{
        SessionManager,
        sessions::{First, find_adapter},
    },
    recorder::for_each_event,
    session::{Imported, Memory, Origin, STATE, workspace_files},
};

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
        let adapter = find_adapter(fork.agent_type.as_ref().unwrap_or(&source.agent_type))?;
        let is_same_agent = adapter.agent_type() == source.agent_type;
        let from = ForkedFrom { session_id: fork.session, version: version.version };
        let new = new_session(&source, &fork, adapter)?;
        // All of it is looked at before anything is made.
        let conversations = self.conversations_at(fork.session, &version).await?;
        let listed = workspace_files(&self.shared.parts.snapshots, &source.partition, tree).await?;
        let created = self.create(new, Some(from), First::Later).await?;
        let session = created.record.session_id;
        let (files, state) =
            if is_same_agent { adopted(adapter, session, contents) } else { Default::default() };
        let origin = Origin { cause: VersionCause::Fork, version: Some(version), listed };
        let past = Imported { conversations, files, state, origin };
        self.finish_making(session, Ok(past)).await?;
        let summary = self.session_get(session).await?;
        Ok(Forked { summary, loss: loss(&source, adapter, is_same_agent) })
    }

    async fn conversations_at(
        &self,
        session: SessionId,
        version: &VersionRecord,
    ) -> Result<Conversations, SessionError> {
        let mut all = Conversations::default();
        let read = for_each_event(self.shared.parts.store.log.as_ref(), session, |event| {
            if event.seq <= version.seq {
                all.apply(&event);
            }
        });
        read.await.map_err(|error| SessionError::internal("read the log", error))?;
        Ok(all)
    }

    async fn contents(
        &self,
        source: &SessionRecord,
        version: &VersionRecord,
    ) -> Result<Vec<(String, Bytes)>, SessionError> {
        let blobs = self.shared.parts.store.blobs.as_ref();
        let memory =
            Memory::open(&source.partition, version.memory.as_ref(), blobs).await.map_err(damaged)?;
        memory.contents(&source.partition, blobs).await.map_err(damaged)
    }
}

fn new_session(
    source: &SessionRecord,
    fork: &Fork,
    adapter: &dyn Adapter,
) -> Result<NewSession, SessionError> {
    let options: RunOptions = if source.options.is_null() {
        RunOptions::default()
    } else {
        serde_json::from_value(source.options.clone())
            .map_err(|error| SessionError::internal("read the session's options", error))?
    };
    let name = fork.name.clone().or_else(|| source.name.as_ref().map(|name| format!("{name} (fork)")));
    Ok(NewSession {
        partition: source.partition.clone(),
        project: source.project_id,
        workspace: None,
        agent_type: adapter.agent_type(),
        profile: fork.profile.clone().unwrap_or_else(|| source.profile.clone()),
        name,
        metadata: source.metadata.clone(),
        options,
        made_by: source.made_by.clone(),
    })
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
        } else if TranscriptName::of_stored(&name) == TranscriptName::Main {
            let adopted = adapter.adopt(session, &content);
            // What the transcript itself says counts more than what was remembered beside it.
            state = adopted.state.or(state);
            files.push((name, Bytes::from(adopted.main)));
        } else {
            files.push((name, content));
        }
    }
    (files, state)
}

fn loss(source: &SessionRecord, adapter: &dyn Adapter, is_same_agent: bool) -> Vec<String> {
    if is_same_agent {
        return Vec::new();
    }
    vec![format!(
        "`{}` cannot read what `{}` remembers: the conversation is shown, but the new agent begins without it and knows only the files",
        adapter.agent_type(),
        source.agent_type
    )]
}
