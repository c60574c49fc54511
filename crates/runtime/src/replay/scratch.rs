//! Where a replay runs: a store and directories of its own, thrown away at its end.

use std::{path::PathBuf, sync::Arc, time::Duration};

use warren_domain::{
    Draft, ErrorCode, EventBody, Fence, ReplayId, RunStatus, Seq, SessionId, Usage, Version,
};
use warren_env::Tasks;
use warren_models::Playback;
use warren_snapshots::Snapshots;
use warren_store::{
    Change, Commit, EventLog as _, Live, LogEntry, RunRecord, SessionRecord, Store, VersionRecord,
    WorkspaceRecord,
};

use super::{Failure, blobs::OwnBlobs, recorded::Recorded};
use crate::{
    manager::SessionManager,
    options::{Directories, Options, Parts, Shared},
    session::{Leave, chain, known_files, tree::tree_id, workspace_files},
    workspaces::Workspaces,
};

/// How long what a replay started may take to end.
const PATIENCE: Duration = Duration::from_secs(20);

/// How long an agent may take to stop when its replay is over: nobody waits for what it would still do.
const STOP: Duration = Duration::from_secs(3);

/// A share of a run's time that is longer than the run.
const NEVER_SOFT: f64 = 2.0;

/// A session that nobody else sees.
pub(super) struct Scratch {
    pub(super) manager: SessionManager,
    pub(super) live: Live,
    pub(super) store: Store,
    pub(super) blobs: Arc<OwnBlobs>,
    session: SessionId,
    directory: PathBuf,
    tasks: Tasks,
    store_tasks: Tasks,
}

/// Where replays have their directories.
pub(crate) fn directory_of_all(options: &Options) -> PathBuf {
    options.directory.join("replays")
}

impl Scratch {
    /// Makes the session as it was when the run began, with the run's message waiting.
    pub(super) async fn make(
        shared: &Shared,
        replay: ReplayId,
        recorded: &Recorded,
        playback: &Playback,
    ) -> Result<Self, Failure> {
        let run = recorded.run.run_id.to_string();
        let directory = directory_of_all(&shared.options).join(replay.to_string()).join(run);
        let made = tokio::fs::create_dir_all(&directory).await;
        made.map_err(|error| Failure::internal("make the replay's directory", &error))?;
        let (parts, store_tasks, tasks) = (&shared.parts, Tasks::new(), Tasks::new());
        let opened = warren_store::scratch(&directory, parts.env.clone(), &store_tasks).await;
        let opened = opened.map_err(|error| Failure::internal("open the replay's store", &error))?;
        let blobs = Arc::new(OwnBlobs::over(parts.store.blobs.clone()));
        let store = Store { blobs: blobs.clone(), profiles: parts.store.profiles.clone(), ..opened };
        let live = Live::new(&store, &tasks);
        let own = Shared {
            workspaces: Workspaces::default(),
            admission: Arc::clone(&shared.admission),
            providers: shared.providers.clone(),
            converter: shared.converter.clone(),
            parts: Parts {
                store: store.clone(),
                live: live.clone(),
                models: parts.models.replaying(playback.clone()),
                egress: parts.egress.unplugged(),
                tasks: tasks.clone(),
                ..parts.clone()
            },
            options: Options {
                directory: directory.clone(),
                stop_patience: shared.options.stop_patience.min(STOP),
                // Who was told to wrap up is told again, when it was told then.
                soft_share: NEVER_SOFT,
                ..shared.options.clone()
            },
            gate: Arc::clone(&shared.gate),
            directories: Directories::ThrownAway,
        };
        let session = recorded.session.session_id;
        let manager = SessionManager::within(Arc::new(own));
        let scratch = Self { manager, live, store, blobs, session, directory, tasks, store_tasks };
        match scratch.furnish(shared, recorded).await {
            Ok(()) => Ok(scratch),
            Err(failure) => {
                scratch.close().await;
                Err(failure)
            }
        }
    }

    async fn furnish(&self, shared: &Shared, recorded: &Recorded) -> Result<(), Failure> {
        let kept = |error| Failure::internal("write the replay's records", &error);
        let original = &recorded.session;
        // The same user: what it may read and write was its own then, too.
        let workspace = shared.parts.store.projects.workspace(original.workspace_id).await.map_err(kept)?;
        let workspace = workspace.ok_or_else(|| {
            Failure::new(
                ErrorCode::NotFound,
                format!("the workspace `{}` no longer exists", original.workspace_id),
            )
        })?;
        let wanted = WorkspaceRecord { uid: 0, ..workspace.clone() };
        self.store.projects.make_workspace(&wanted, workspace.uid).await.map_err(kept)?;
        let mut commit = first_commit(shared, recorded)?;
        commit.changes.extend(base_files(&shared.parts.snapshots, recorded).await?);
        self.live
            .commit(commit)
            .await
            .map_err(|error| Failure::internal("begin the replay's log", &error))?;
        self.restore_base(recorded).await
    }

    /// Ends everything and removes it.
    pub(super) async fn close(self) {
        let left = self.manager.ask_to_leave(self.session, Leave::Drain);
        if tokio::time::timeout(PATIENCE, left).await.is_err() {
            tracing::error!(session = %self.session, "a replay's sandbox did not end in time");
        }
        self.tasks.cancel();
        self.store_tasks.cancel();
        if !(self.tasks.wait(PATIENCE).await && self.store_tasks.wait(PATIENCE).await) {
            tracing::error!(session = %self.session, "a replay's tasks did not end in time");
        }
        let directory = self.directory;
        let removed = tokio::task::spawn_blocking(move || {
            std::fs::remove_dir_all(&directory)?;
            // The replay's own, once its last run is done.
            directory.parent().map_or(Ok(()), |parent| match std::fs::remove_dir(parent) {
                Err(error) if error.kind() == std::io::ErrorKind::DirectoryNotEmpty => Ok(()),
                other => other,
            })
        });
        match removed.await {
            Ok(Ok(())) => {}
            // What is left is removed at the next start.
            Ok(Err(error)) => tracing::warn!(%error, "a replay's directory was not removed"),
            Err(error) => tracing::warn!(%error, "a replay's directory was not removed"),
        }
    }
}

/// What the log knew of files when the run began: nobody tells of those again that the run finds.
async fn base_files(snapshots: &Snapshots, recorded: &Recorded) -> Result<Vec<Change>, Failure> {
    let Some(tree) = recorded.base.as_ref().and_then(|base| base.tree.as_ref()) else {
        return Ok(Vec::new());
    };
    let tree = tree_id(Some(tree)).map_err(|error| Failure::internal("read the base version", &error))?;
    let listed = workspace_files(snapshots, &recorded.session.partition, tree).await;
    let listed = listed.map_err(|error| Failure::new(ErrorCode::DataDamaged, chain(&error)))?;
    Ok(known_files(&listed))
}

/// The session and the message, as if it had just been sent.
fn first_commit(shared: &Shared, recorded: &Recorded) -> Result<Commit, Failure> {
    let (session, run, now) = (&recorded.session, &recorded.run, shared.parts.env.now());
    let created = Draft::of_session(EventBody::SessionCreated {
        agent_type: session.agent_type.clone(),
        profile: session.profile.id.clone(),
        name: session.name.clone(),
        forked_from: None,
        options: Some(session.options.clone()),
    });
    let queued =
        Draft::of_run(run.run_id, EventBody::RunQueued { content: run.input.content.clone(), position: 1 });
    let mut entries = Vec::new();
    for (draft, seq) in [created, queued].into_iter().zip(1..) {
        let event = draft.numbered(Seq(seq), session.session_id, now);
        entries
            .push(LogEntry::of(&event).map_err(|error| Failure::internal("begin the replay's log", &error))?);
    }
    let record = SessionRecord { forked_from: None, head: Seq(0), version: Version(0), ..session.clone() };
    let mut input = run.input.clone();
    input.base_version = None;
    let run = RunRecord {
        status: RunStatus::Queued,
        input,
        created_at: now,
        started_at: None,
        ended_at: None,
        base_version: None,
        version: None,
        seq: Seq(2),
        usage: Usage::default(),
        error: None,
        ..run.clone()
    };
    let mut changes = vec![Change::CreateSession(Box::new(record)), Change::PutRun(Box::new(run))];
    // What it begins with: the run's base version, as if it were the first.
    changes.extend(recorded.base.clone().map(|base| {
        let first = VersionRecord {
            version: Version(0),
            base: Version(0),
            run_id: None,
            seq: Seq(1),
            created_at: now,
            usage: Usage::default(),
            label: None,
            ..base
        };
        Change::PutVersion(Box::new(first))
    }));
    Ok(Commit { session: session.session_id, fence: Fence(0), expected: Seq(0), entries, changes })
}
