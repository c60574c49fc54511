//! Everything between "a sandbox is needed" and "an agent can be started in it".

use std::{collections::BTreeMap, io::Cursor, path::PathBuf, sync::Arc};

use tokio::sync::mpsc;
use tokio_util::sync::{CancellationToken, DropGuard};
use warren_agents::{Adapter, LayoutFile, LayoutRequest, ModelApi, ModelEndpoint, Place};
use warren_domain::{AgentProfile, ErrorCode, Head, ProfileRef, RunOptions};
use warren_env::{TaskKind, Tasks};
use warren_guest_api::{DEFAULT_EXCLUDES, FilePath, Root, WatchEvent, WatchRequest, WriteHow, WriteRequest};
use warren_models::Format;
use warren_sandbox::{FilesAt, Guest, Mounts, Sandbox, SandboxId, Spec, StartError};
use warren_store::ReadError;

use super::{
    Identity,
    bring::{alone, bring},
    calls::Calls,
    files::{Seen, seen},
    instructions,
    outside::{self, Outside},
    previews,
    rebuild::{Rebuild, Workspace},
    signal::Signal,
    template,
    transcripts::{TranscriptKeeper, put_back},
};
use crate::{
    admission::{Admitted, Ticket},
    api::SessionError,
    options::{Packages, Program, Shared},
    places::{Places, Strays},
    workspaces::Inside,
};

/// Path of the workspace in a sandbox.
pub(super) const WORKSPACE: &str = "/workspace";

/// Path of the Python packages in a sandbox.
const PYTHON: &str = "/opt/python";

/// Path of the agent's home in a sandbox.
pub(super) const HOME: &str = "/home/agent";

/// The ports inside every sandbox where model APIs seem to be.
const APIS: [(ModelApi, Format, &str, u16); 4] = [
    (ModelApi::Anthropic, Format::Anthropic, "anthropic", 4100),
    (ModelApi::Gemini, Format::Gemini, "gemini", 4101),
    (ModelApi::OpenAiChat, Format::OpenAiChat, "openai-chat", 4102),
    (ModelApi::OpenAiResponses, Format::OpenAiResponses, "openai-responses", 4103),
];

/// Stands for the key, which never enters a sandbox.
const PLACEHOLDER_KEY: &str = "warren-placeholder";

/// The model APIs as agents see them.
pub(super) fn endpoints() -> Vec<ModelEndpoint> {
    let endpoint = |(api, _, _, port)| ModelEndpoint {
        api,
        base_url: format!("http://127.0.0.1:{port}"),
        placeholder_key: PLACEHOLDER_KEY.to_owned(),
    };
    APIS.map(endpoint).to_vec()
}

/// The ports that are the host's own: whatever is behind them is reached by programs inside, and by nobody else.
fn own_ports() -> Vec<u16> {
    APIS.iter().map(|(_, _, _, port)| *port).chain([outside::PORT]).collect()
}

/// A sandbox with everything an agent needs around it.
pub(super) struct Started {
    pub(super) sandbox: Sandbox,
    pub(super) calls: Arc<Calls>,
    pub(super) outside: Arc<Outside>,
    pub(super) transcripts: TranscriptKeeper,
    pub(super) workspace: Workspace,
    /// Files written into a new workspace.
    pub(super) given: Vec<Seen>,
    /// Programs it can see.
    pub(super) programs: Vec<Program>,
    pub(super) tasks: Tasks,
    /// Some of the tasks hold the sandbox: it is only let go of when they end.
    pub(super) until_dropped: DropGuard,
    /// Counted among those who work in its workspace.
    pub(super) inside: Inside,
    /// Counted among the sandboxes that run.
    pub(super) admitted: Admitted,
}

/// Why a sandbox could not be started.
#[derive(Debug)]
pub(super) struct StartFailure {
    pub(super) code: ErrorCode,
    pub(super) message: String,
    pub(super) hint: Option<String>,
}

impl StartFailure {
    pub(super) fn new(code: ErrorCode, error: &(dyn std::error::Error + 'static)) -> Self {
        Self { code, message: chain(error), hint: None }
    }

    /// Message and hint as one text, for the log.
    pub(super) fn full_message(&self) -> String {
        match &self.hint {
            Some(hint) => format!("{}; hint: {hint}", self.message),
            None => self.message.clone(),
        }
    }

    pub(super) fn to_error(&self) -> SessionError {
        SessionError::Invalid { code: self.code, message: self.message.clone(), hint: self.hint.clone() }
    }
}

impl From<StartError> for StartFailure {
    fn from(error: StartError) -> Self {
        let code = match error {
            StartError::MissingIsolation { .. } => ErrorCode::IsolationMissing,
            _ => ErrorCode::SandboxError,
        };
        Self { hint: error.hint(), ..Self::new(code, &error) }
    }
}

/// A start that waits for its turn.
pub(super) struct Queued {
    pub(super) ticket: Ticket,
    /// Ends the wait. Later it has no effect.
    pub(super) call_off: CancellationToken,
}

impl Queued {
    /// Waits for a place among the running sandboxes, unless the start is called off.
    async fn admitted(
        self,
        id: &SandboxId,
        signals: &mpsc::Sender<Signal>,
    ) -> Result<Admitted, StartFailure> {
        let mut position = None;
        loop {
            let step = tokio::select! {
                step = self.ticket.next(position) => step,
                () = self.call_off.cancelled() => {
                    let message = "it is no longer needed: the run ended while it waited for a free sandbox".to_owned();
                    return Err(StartFailure { code: ErrorCode::SandboxError, message, hint: None });
                }
            };
            // The session may be gone by now; then nobody wants to know.
            match step {
                Ok(admitted) => {
                    if position.is_some() {
                        let _ = signals.send(Signal::Admitted(id.clone())).await;
                    }
                    return Ok(admitted);
                }
                Err(moved) => {
                    position = Some(moved);
                    let _ = signals.send(Signal::Queued(id.clone(), moved)).await;
                }
            }
        }
    }
}

/// Makes a sandbox for a session, when it is its turn, and gets it ready: mounts, files of the profile, transcripts, model
/// endpoint, watchers.
pub(super) async fn start(
    id: SandboxId,
    queued: Queued,
    identity: Identity,
    shared: Arc<Shared>,
    signals: mpsc::Sender<Signal>,
    head: Head,
) -> Result<Started, StartFailure> {
    let admitted = queued.admitted(&id, &signals).await?;
    let installed = shared.parts.programs.installed();
    let adapter = find_adapter(&identity, &installed)?;
    let profile = load_profile(&identity, &shared, &installed).await?;
    let mut layout = layout(adapter, &profile, &identity, &shared).await?;
    let packages = shared.parts.programs.packages();
    instructions::add(&mut layout, &profile, &packages);
    let places = Places::of(&shared.options.directory, identity.session, identity.workspace);
    let uid = uid_of(&identity, &shared).await?;
    // Until its files are there and one more is counted: nobody else makes or replaces them meanwhile.
    let door = shared.workspaces.close(identity.workspace).await;
    if !places.is_workspace_known() {
        let (strays, now) = (Strays::of(&shared.options.directory), shared.parts.env.now());
        let backend = Arc::clone(&shared.parts.backend);
        on_disk(move || strays.set_aside_of(uid, now, backend.as_ref())).await?;
    }
    let rebuild = Rebuild { identity: &identity, shared: &shared, places: &places, head, uid };
    let rebuilt = match shared.parts.backend.files() {
        FilesAt::Host => Some(rebuild.run().await?),
        FilesAt::Guest => alone(&door, &identity).map(|()| None)?,
    };
    prepare(&places, &layout, rebuilt).await?;
    let mounts =
        Mounts { knowledge: knowledge(&identity, &shared).await, ..mounts(&places, &installed, &packages) };
    let spec = spec(id, uid, mounts, &shared, &packages);
    let outside = way_out(&profile, signals.clone())?;
    let sandbox = shared.parts.backend.start(spec).await?;
    // Before anything watches: what a session starts with is no run's work.
    let workspace = match rebuilt {
        Some(workspace) => workspace,
        None => bring(&identity, &shared, &sandbox.guest, head).await?,
    };
    let given = if workspace == Workspace::New { give(&sandbox, &shared).await? } else { Vec::new() };
    let inside = door.enter(identity.session);
    let tasks = shared.parts.tasks.child();
    let until_dropped = tasks.token().drop_guard();
    let furnished = furnish(&identity, adapter, &shared, &sandbox, &outside, &tasks, signals.clone());
    let (calls, transcripts) =
        furnished.await.map_err(|error| StartFailure::new(ErrorCode::SandboxError, error.as_ref()))?;
    let laid_out = lay_out(&sandbox.guest, &layout, workspace).await;
    laid_out.map_err(|error| StartFailure::new(ErrorCode::SandboxError, &error))?;
    complete(places, rebuilt).await?;
    report_end(&sandbox, &tasks, signals);
    Ok(Started {
        sandbox,
        calls,
        outside,
        transcripts,
        workspace,
        given,
        programs: installed,
        tasks,
        until_dropped,
        inside,
        admitted,
    })
}

/// The files that the session's agent is given.
async fn layout(
    adapter: &dyn Adapter,
    profile: &AgentProfile,
    identity: &Identity,
    shared: &Shared,
) -> Result<Vec<LayoutFile>, StartFailure> {
    let options = session_options(identity, shared).await;
    let options = options.map_err(|error| StartFailure::new(ErrorCode::Internal, &error))?;
    Ok(adapter.layout(&LayoutRequest {
        profile,
        endpoints: &endpoints(),
        model: options.model.as_deref(),
        permission_mode: options.permission_mode.unwrap_or_default(),
    }))
}

fn spec(id: SandboxId, uid: u32, mounts: Mounts, shared: &Shared, packages: &Packages) -> Spec {
    let (limits, required) = (shared.options.limits.clone(), shared.options.required.clone());
    Spec { id, mounts, uid, env: environment(packages), limits, required }
}

/// The mounts of a sandbox.
fn mounts(places: &Places, installed: &[Program], packages: &Packages) -> Mounts {
    Mounts {
        workspace: places.workspace.clone(),
        home: places.home.clone(),
        user_input: Some(places.user_input.clone()),
        knowledge: None,
        instructions: Some(places.instructions.clone()),
        agents: installed.iter().map(|it| (it.name.clone(), it.directory.clone())).collect(),
        node_packages: packages.node.clone(),
        python_packages: packages.python.clone(),
        read_only: BTreeMap::new(),
    }
}

fn way_out(profile: &AgentProfile, signals: mpsc::Sender<Signal>) -> Result<Arc<Outside>, StartFailure> {
    let outside = Outside::new(profile, signals).map_err(|error| StartFailure {
        hint: Some(error.hint().to_owned()),
        ..StartFailure::new(ErrorCode::BadRequest, &error)
    })?;
    Ok(Arc::new(outside))
}

/// Writes the template, if there is one.
async fn give(sandbox: &Sandbox, shared: &Shared) -> Result<Vec<Seen>, StartFailure> {
    let Some(template) = shared.options.template.as_deref() else { return Ok(Vec::new()) };
    let written = template::write(&sandbox.guest, template).await;
    written.map_err(|error| StartFailure::new(ErrorCode::SandboxError, &error))
}

/// Environment of programs in the sandbox: the egress proxy and the paths of packages.
fn environment(packages: &Packages) -> BTreeMap<String, String> {
    let mut all = outside::environment();
    if packages.python.is_some() {
        all.insert("PYTHONPATH".to_owned(), PYTHON.to_owned());
    }
    all
}

pub(super) fn find_adapter(
    identity: &Identity,
    programs: &[Program],
) -> Result<&'static dyn Adapter, StartFailure> {
    let found = crate::agents::find(&identity.agent_type, programs);
    found.map(|(adapter, _)| adapter).ok_or_else(|| StartFailure {
        code: ErrorCode::AgentUnknown,
        message: format!("the agent `{}` is not installed", identity.agent_type),
        hint: Some(
            "`warren agents list` lists the agents; install a missing npm agent again by its package"
                .to_owned(),
        ),
    })
}

/// What the session's owner set. Whoever cannot know it must not go on: without it there is no budget and nobody is asked.
pub(super) async fn session_options(identity: &Identity, shared: &Shared) -> Result<RunOptions, ReadError> {
    let unknown = |source: Box<dyn std::error::Error + Send + Sync>| ReadError {
        doing: "read the session's options",
        source,
    };
    let record = shared.parts.store.sessions.session(identity.session).await?;
    let record = record.ok_or_else(|| unknown("the session no longer exists".into()))?;
    if record.options.is_null() {
        return Ok(RunOptions::default());
    }
    serde_json::from_value(record.options).map_err(|error| unknown(error.into()))
}

/// The profile the session was created with, in its current form; an empty one if it was removed. A profile of the same name
/// with another owner never takes its place.
pub(super) async fn load_profile(
    identity: &Identity,
    shared: &Shared,
    programs: &[Program],
) -> Result<AgentProfile, StartFailure> {
    let ProfileRef { owner, id } = &identity.profile;
    let project = owner.project(identity.project);
    let found = shared.parts.store.profiles.profile(&identity.partition, project, id).await;
    let found = found.map_err(|error| StartFailure::new(ErrorCode::Internal, &error))?;
    let mut profile = found.unwrap_or_else(|| AgentProfile::empty(id.clone()));
    // What the operator grants to all sessions needs no word in their profiles.
    profile.provider_tools |= shared.options.provider_tools;
    crate::agents::add_recipe(&mut profile, &identity.agent_type, programs).map_err(|missing| {
        StartFailure {
            code: ErrorCode::AgentError,
            message: format!(
                "the agent `{}` needs the environment variable `{missing}`",
                identity.agent_type
            ),
            hint: Some(format!("set it in the profile `{id}`: its field is `environmentVariables`")),
        }
    })?;
    Ok(profile)
}

async fn uid_of(identity: &Identity, shared: &Shared) -> Result<u32, StartFailure> {
    match shared.parts.store.projects.workspace(identity.workspace).await {
        Ok(Some(workspace)) => Ok(workspace.uid),
        Ok(None) => Err(StartFailure {
            code: ErrorCode::SandboxError,
            message: format!("the workspace `{}` no longer exists", identity.workspace),
            hint: None,
        }),
        Err(error) => Err(StartFailure::new(ErrorCode::Internal, &error)),
    }
}

/// Makes the directories that hold the session's. The instructions are the server's own: the sandbox sees them
/// read-only, so plain file calls are safe here. `workspace` is what is known of one that is a directory of the host.
async fn prepare(
    places: &Places,
    layout: &[LayoutFile],
    workspace: Option<Workspace>,
) -> Result<(), StartFailure> {
    let files: Vec<LayoutFile> =
        layout.iter().filter(|file| file.place == Place::Instructions).cloned().collect();
    let places = places.clone();
    on_disk(move || {
        places.prepare(&files)?;
        if workspace == Some(Workspace::New) { places.begin_workspace() } else { Ok(()) }
    })
    .await
}

/// Whatever happens from here on, a new workspace has all that it is given.
async fn complete(places: Places, workspace: Option<Workspace>) -> Result<(), StartFailure> {
    if workspace == Some(Workspace::New) {
        on_disk(move || places.workspace_is_whole()).await
    } else {
        Ok(())
    }
}

async fn on_disk(work: impl FnOnce() -> std::io::Result<()> + Send + 'static) -> Result<(), StartFailure> {
    let failed =
        |error: &(dyn std::error::Error + 'static)| StartFailure::new(ErrorCode::SandboxError, error);
    let done = tokio::task::spawn_blocking(work).await;
    done.map_err(|error| failed(&error))?.map_err(|error| failed(&error))
}

/// What the session's project knows, with its index as the files are. What comes later is seen by sandboxes that run.
async fn knowledge(identity: &Identity, shared: &Shared) -> Option<PathBuf> {
    let directory = shared.options.knowledge_of(&identity.partition, identity.project)?;
    let root = directory.root().to_owned();
    let ready = tokio::task::spawn_blocking(move || directory.make_ready()).await;
    if let Err(error) = ready.unwrap_or_else(|error| Err(std::io::Error::other(error))) {
        // Whoever fills it by hand may have given us nothing but the right to read.
        tracing::warn!(directory = %root.display(), %error, "what a project knows has no index of ours");
    }
    tokio::fs::try_exists(&root).await.unwrap_or(false).then_some(root)
}

async fn furnish(
    identity: &Identity,
    adapter: &'static dyn Adapter,
    shared: &Arc<Shared>,
    sandbox: &Sandbox,
    outside: &Arc<Outside>,
    tasks: &Tasks,
    signals: mpsc::Sender<Signal>,
) -> Result<(Arc<Calls>, TranscriptKeeper), Box<dyn std::error::Error + Send + Sync>> {
    let plan = adapter.transcripts(identity.session);
    let guest = &sandbox.guest;
    put_back(identity.session, plan.as_ref(), guest, shared.parts.store.transcripts.as_ref()).await?;
    let calls = Arc::new(Calls::new(signals.clone()));
    serve_models(guest, shared, calls.clone(), tasks).await?;
    outside::serve(guest, shared.parts.egress.clone(), outside.clone(), tasks).await?;
    watch_files(guest, tasks, signals.clone()).await?;
    previews::watch(guest, own_ports(), tasks, signals).await?;
    let store = shared.parts.store.transcripts.clone();
    let keeper = TranscriptKeeper::start(identity, plan, guest.clone(), store, tasks);
    Ok((calls, keeper))
}

/// Makes the model gateway reachable, one port for each format, on the sandbox's loopback.
async fn serve_models(
    guest: &Guest,
    shared: &Arc<Shared>,
    calls: Arc<Calls>,
    tasks: &Tasks,
) -> Result<(), warren_sandbox::CallError> {
    for (_, format, name, port) in APIS {
        let mut listener = guest.listen(name, port).await?;
        let (models, calls, inner) = (shared.parts.models.clone(), calls.clone(), tasks.clone());
        tasks.spawn(TaskKind::Sandbox, async move {
            while let Some(stream) = listener.accept().await {
                let (models, calls) = (models.clone(), calls.clone());
                inner.spawn_to_end(TaskKind::Sandbox, async move {
                    models.serve(format, stream, calls).await;
                });
            }
        });
    }
    Ok(())
}

async fn watch_files(
    guest: &Guest,
    tasks: &Tasks,
    signals: mpsc::Sender<Signal>,
) -> Result<(), warren_sandbox::CallError> {
    let request = WatchRequest {
        roots: vec![Root::Workspace],
        excludes: DEFAULT_EXCLUDES.iter().map(|name| (*name).to_owned()).collect(),
    };
    let mut watch = guest.watch(request).await?;
    tasks.spawn(TaskKind::Sandbox, async move {
        while let Ok(event) = watch.next().await {
            let signal = match event {
                WatchEvent::Changes { changes } => Signal::Files(seen(changes)),
                WatchEvent::Overflow { .. } => Signal::FilesUncertain,
            };
            if signals.send(signal).await.is_err() {
                return;
            }
        }
    });
    Ok(())
}

/// Writes the profile's files into the home, and into the workspace while it is new.
async fn lay_out(
    guest: &Guest,
    layout: &[LayoutFile],
    workspace: Workspace,
) -> Result<(), warren_sandbox::CallError> {
    for file in layout {
        let root = match file.place {
            Place::Home => Root::Home,
            Place::Workspace if workspace == Workspace::New => Root::Workspace,
            Place::Workspace | Place::Instructions => continue,
        };
        let path = FilePath::new(root, file.path.clone());
        let request = WriteRequest { path, how: WriteHow::Replace, mode: Some(file.mode) };
        guest.write(request, Cursor::new(&file.content)).await?;
    }
    Ok(())
}

/// Tells the session when the sandbox ends or takes too much.
fn report_end(sandbox: &Sandbox, tasks: &Tasks, signals: mpsc::Sender<Signal>) {
    let (gone, to) = (sandbox.clone(), signals.clone());
    tasks.spawn(TaskKind::Sandbox, async move {
        let exit = gone.exited().await;
        // Nobody left to tell is fine: the session ended the sandbox itself.
        let _ = to.send(Signal::SandboxGone(gone.id.clone(), exit)).await;
    });
    let limited = sandbox.clone();
    tasks.spawn(TaskKind::Sandbox, async move {
        let hit = limited.limit_hit().await;
        let _ = signals.send(Signal::LimitHit(limited.id.clone(), hit)).await;
    });
}

/// An error and its causes in one line.
pub(crate) fn chain(error: &(dyn std::error::Error + 'static)) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        text.push_str(": ");
        text.push_str(&cause.to_string());
        source = cause.source();
    }
    text
}
