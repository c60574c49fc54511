//! Ports and apps in the sandbox: tracked as they open and close, started on demand.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use tokio::{io::AsyncReadExt as _, sync::mpsc};
use warren_domain::{Artifact, ArtifactId, Draft, ErrorCode, EventBody, PortOwner};
use warren_env::{TaskKind, Tasks};
use warren_guest_api::{ExecRequest, Exit, Leftovers, OpenPort};
use warren_sandbox::{CallError, Exec, Guest};

use super::{
    Reply, SessionTask,
    files::ByHand,
    requests::{Failure, answer},
    signal::Signal,
    start::{WORKSPACE, chain},
};
use crate::{
    api::{Behind, PreviewHost, SessionError, Wake},
    recorder::RecordError,
};

/// First port that is assigned to an app.
const FIRST_PORT: u16 = 3000;

/// Maximum length of an app's output that is kept.
const TAIL: usize = 8 << 10;

/// Timeout for starting an app. The guest answers when the program runs, not when it listens.
const START: Duration = Duration::from_secs(10);

/// An app that starts keeps the session awake for as long as this: nobody sees anything of it until it listens.
const OPENING: Duration = Duration::from_secs(120);

/// How a shell ends when there is no such program.
const NOT_FOUND: i32 = 127;

/// What helps an app whose program is not there, where the packages of the template are not either.
const OFFER: &str = "Next.js, React and TypeScript are not installed on this server. \
    Run `warren template install` there, end the sandbox, and open this again.";

/// Listening ports, and apps that were started.
#[derive(Default)]
pub(super) struct Ports {
    open: BTreeMap<u16, OpenPort>,
    /// Apps that were started from here, by the port they were told to take.
    apps: BTreeMap<u16, App>,
    /// Told when something listens there.
    waiting: Vec<(u16, Reply<()>)>,
}

/// An app that was started from here.
struct App {
    artifact: ArtifactId,
    /// Its process group: what it starts listens in its name.
    group: u32,
    /// The last of what it said.
    said: Arc<Mutex<String>>,
    is_over: bool,
}

/// Requests about ports and apps in a session's sandbox.
pub(crate) enum Visit {
    /// The sandbox, if there is one that answers.
    Reach(Reply<Option<Guest>>),
    /// The way to a port.
    Dial(u16, Reply<Door>),
    /// The port on which an app listens, or will.
    Open(ArtifactId, Wake, Reply<u16>),
    /// Answered when something listens there.
    Await(u16, Reply<()>),
    /// Somebody waits for an answer of an app.
    Touch(Reply<()>),
    /// A person wrote or removed a file.
    Changed(ByHand, Reply<()>),
}

impl Visit {
    /// Answers with an error. A caller that is gone needs no answer.
    pub(super) fn refuse(self, error: SessionError) {
        match self {
            Visit::Reach(reply) => drop(reply.send(Err(error))),
            Visit::Dial(_, reply) => drop(reply.send(Err(error))),
            Visit::Open(_, _, reply) => drop(reply.send(Err(error))),
            Visit::Await(_, reply) | Visit::Touch(reply) | Visit::Changed(_, reply) => {
                drop(reply.send(Err(error)));
            }
        }
    }
}

/// The result of dialling a port.
pub(crate) enum Door {
    /// The app listens, possibly on another port than assigned.
    Open(Guest, u16),
    /// It was started and does not listen yet.
    Opening,
    /// Nothing listens.
    Shut {
        /// The app's output before it exited, if it was started here.
        complaint: Option<String>,
    },
    NoSandbox,
}

impl Ports {
    /// The apps that own the open ports.
    pub(super) fn owners(&self) -> BTreeMap<u16, PortOwner> {
        let owner = |open: &OpenPort| {
            let directory = open.directory.as_deref().and_then(|path| path.strip_prefix(WORKSPACE));
            PortOwner { directory: directory.map(|path| path.trim_start_matches('/').to_owned()) }
        };
        self.open.iter().map(|(port, open)| (*port, owner(open))).collect()
    }

    /// The port on which whatever was told to take `port` really listens.
    fn actual(&self, port: u16) -> Option<u16> {
        if self.open.contains_key(&port) {
            return Some(port);
        }
        let app = self.apps.get(&port).filter(|app| !app.is_over)?;
        self.open.values().find(|open| open.group == Some(app.group)).map(|open| open.port)
    }

    fn free(&self, wanted: Option<u16>) -> Option<u16> {
        candidates(wanted).find(|port| self.is_free(*port))
    }

    /// Where an app that does not listen will be told to: where it was before, unless that is another's by now.
    pub(super) fn planned(&self, app: ArtifactId, before: Option<u16>, taken: &BTreeSet<u16>) -> Option<u16> {
        let told = self.apps.iter().find(|(_, started)| started.artifact == app && !started.is_over);
        let is_good = |port: &u16| self.is_free(*port) && !taken.contains(port);
        told.map(|(port, _)| *port).or_else(|| candidates(before).find(is_good))
    }

    fn is_free(&self, port: u16) -> bool {
        let is_taken = self.apps.get(&port).is_some_and(|app| !app.is_over);
        !self.open.contains_key(&port) && !is_taken
    }

    fn tell_waiting(&mut self) {
        let waiting = std::mem::take(&mut self.waiting);
        for (port, reply) in waiting {
            match self.actual(port) {
                Some(_) => drop(reply.send(Ok(()))),
                None => self.waiting.push((port, reply)),
            }
        }
    }
}

/// Ports for an app, best first.
fn candidates(wanted: Option<u16>) -> impl Iterator<Item = u16> {
    wanted.into_iter().chain(FIRST_PORT..FIRST_PORT + 100)
}

impl App {
    /// What it said before it ended. Never nothing: whoever looks is to see that it ended, not a page that waits.
    fn complaint(&self) -> String {
        self.said.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// Watches what listens, until the sandbox ends.
pub(super) async fn watch(
    guest: &Guest,
    own_ports: Vec<u16>,
    tasks: &Tasks,
    signals: mpsc::Sender<Signal>,
) -> Result<(), CallError> {
    let mut watch = guest.watch_ports(own_ports).await?;
    tasks.spawn(TaskKind::Sandbox, async move {
        while let Ok(ports) = watch.next().await {
            if signals.send(Signal::Ports(ports)).await.is_err() {
                return;
            }
        }
    });
    Ok(())
}

impl SessionTask {
    pub(super) async fn on_visit(&mut self, visit: Visit) -> Result<(), RecordError> {
        match visit {
            Visit::Reach(reply) => {
                let guest = self.sandbox.ready().map(|ready| ready.sandbox.guest.clone());
                answer(reply, Ok(guest))
            }
            Visit::Dial(port, reply) => {
                let door = self.door(port);
                answer(reply, Ok(door))
            }
            Visit::Open(artifact, wake, reply) => {
                let result = self.open_preview(artifact, wake).await;
                answer(reply, result)
            }
            Visit::Await(port, reply) => {
                self.await_port(port, reply);
                Ok(())
            }
            Visit::Touch(reply) => answer(reply, Ok(())),
            Visit::Changed(by_hand, reply) => {
                let result = self.on_changed_by_hand(by_hand).await.map_err(Failure::from);
                answer(reply, result)
            }
        }
    }

    /// Other ports are open than before.
    pub(super) async fn on_ports(&mut self, now: Vec<OpenPort>) -> Result<(), RecordError> {
        let now: BTreeMap<u16, OpenPort> = now.into_iter().map(|open| (open.port, open)).collect();
        let (before, after): (BTreeSet<_>, BTreeSet<_>) =
            (self.ports.open.keys().copied().collect(), now.keys().copied().collect());
        let closed = before.difference(&after).map(|port| EventBody::PortClosed { port: *port });
        let opened = after.difference(&before).map(|port| {
            let host = PreviewHost { session: self.identity.session, behind: Behind::Port(*port) };
            let hosts = self.shared.options.previews.as_ref();
            EventBody::PortOpened {
                port: *port,
                preview_url: hosts.map(|hosts| format!("{}/", hosts.origin(host))),
            }
        });
        let run = self.recorder.state.running();
        let drafts =
            closed.chain(opened).map(|body| Draft { run_id: run, ..Draft::of_session(body) }).collect();
        self.recorder.record(drafts, |_| Vec::new()).await?;
        if !after.is_subset(&before) {
            self.deadlines.expect_no_more();
        }
        self.ports.open = now;
        self.ports.tell_waiting();
        self.record_artifacts().await
    }

    /// The sandbox is gone, and what listened in it.
    pub(super) async fn ports_gone(&mut self) -> Result<(), RecordError> {
        self.ports.apps.clear();
        self.ports.waiting.clear();
        if self.ports.open.is_empty() { Ok(()) } else { self.on_ports(Vec::new()).await }
    }

    /// An app that was started from here ended.
    pub(super) fn on_app_ended(&mut self, port: u16, group: u32) {
        if let Some(app) = self.ports.apps.get_mut(&port).filter(|app| app.group == group) {
            app.is_over = true;
            // It will not listen any more; whoever waits is shown why.
            self.ports.waiting.retain(|(waited, _)| *waited != port);
        }
    }

    /// The way to a port.
    fn door(&self, port: u16) -> Door {
        let Some(ready) = self.sandbox.ready() else { return Door::NoSandbox };
        match (self.ports.actual(port), self.ports.apps.get(&port)) {
            (Some(actual), _) => Door::Open(ready.sandbox.guest.clone(), actual),
            (None, Some(app)) if !app.is_over => Door::Opening,
            (None, app) => Door::Shut { complaint: app.map(App::complaint) },
        }
    }

    /// Answers as soon as something listens on a port.
    fn await_port(&mut self, port: u16, reply: Reply<()>) {
        // What has ended will not listen: whoever waits for it is let go at once.
        if self.ports.apps.get(&port).is_none_or(|app| !app.is_over) {
            self.ports.waiting.push((port, reply));
            self.ports.tell_waiting();
        }
    }

    /// The port on which an app listens, or will.
    async fn open_preview(&mut self, id: ArtifactId, wake: Wake) -> Result<u16, Failure> {
        let refused = |message: String, hint: &str| {
            let hint = Some(hint.to_owned());
            Failure::Refused(SessionError::Invalid { code: ErrorCode::Conflict, message, hint })
        };
        let artifact = self.recorder.state.artifacts.get(&id).cloned();
        let artifact = artifact.ok_or_else(|| Failure::Refused(SessionError::not_found("artifact", id)))?;
        if let Some(port) = artifact.port.filter(|port| self.ports.open.contains_key(port)) {
            return Ok(port);
        }
        let started = self.ports.apps.iter().find(|(_, app)| app.artifact == id && !app.is_over);
        if let Some((port, _)) = started {
            return Ok(*port);
        }
        let Some(command) = artifact.command.clone() else {
            return Err(refused(
                format!("`{}` is not running, and there is no start command for it", artifact.path),
                "add a script `dev` to its `package.json`, or a `command` to `outputs/manifest.json`",
            ));
        };
        if wake == Wake::Never {
            let message = format!("`{}` is not running", artifact.path);
            return Err(refused(message, "open it with a token that may write to start it"));
        }
        let message = "no free port is left for it".to_owned();
        let port = self.ports.free(artifact.port).ok_or_else(|| refused(message, "stop something"))?;
        self.start_app(&artifact, &command, port).await.map_err(Failure::Refused)?;
        self.deadlines.expect(OPENING);
        Ok(port)
    }

    async fn start_app(&mut self, artifact: &Artifact, command: &str, port: u16) -> Result<(), SessionError> {
        let failed = |why: String| SessionError::Invalid {
            code: ErrorCode::SandboxError,
            message: format!("`{}` could not be started: {why}", artifact.path),
            hint: None,
        };
        let Some(ready) = self.sandbox.ready() else {
            return Err(failed("the sandbox has stopped".to_owned()));
        };
        let mut env = ready.sandbox.env.clone();
        let own = [("PORT", port.to_string().as_str()), ("HOST", "127.0.0.1"), ("BROWSER", "none")]
            .map(|(name, value)| (name.to_owned(), value.to_owned()));
        env.extend(own);
        env.insert("NEXT_TELEMETRY_DISABLED".to_owned(), "1".to_owned());
        let request = ExecRequest {
            // One output is enough to say what is wrong.
            argv: vec!["/bin/sh".to_owned(), "-c".to_owned(), format!("exec 2>&1\n{command}")],
            env,
            cwd: Some(format!("{WORKSPACE}/{}", artifact.path)),
            leftovers: Leftovers::Kill,
            ..ExecRequest::default()
        };
        let started = tokio::time::timeout(START, ready.sandbox.guest.exec(request)).await;
        let exec = started.map_err(|_| failed("the guest did not answer in time".to_owned()))?;
        let exec = exec.map_err(|error| failed(chain(&error)))?;
        let (group, said) = (exec.pid(), Arc::<Mutex<String>>::default());
        let offer = self.shared.parts.programs.packages().node.is_none().then_some(OFFER);
        ready.spawn(follow(exec, port, said.clone(), offer, self.sender.clone()));
        self.ports.apps.insert(port, App { artifact: artifact.id, group, said, is_over: false });
        Ok(())
    }
}

/// Listens to an app until it ends. It is killed when nobody does any more: with its sandbox.
async fn follow(
    mut exec: Exec,
    port: u16,
    said: Arc<Mutex<String>>,
    offer: Option<&str>,
    to: mpsc::Sender<Signal>,
) {
    let group = exec.pid();
    let mut buffer = vec![0; 4096];
    while let Ok(n @ 1..) = exec.stdout.read(&mut buffer).await {
        let text = String::from_utf8_lossy(&buffer[..n]);
        let mut said = said.lock().unwrap_or_else(PoisonError::into_inner);
        said.push_str(&text);
        let too_much = said.ceil_char_boundary(said.len().saturating_sub(TAIL));
        said.drain(..too_much);
    }
    // However it ended, it does not serve any more.
    let ended = exec.wait().await.ok();
    say_if_silent(&said, ended);
    if let Some(offer) = offer.filter(|_| ended == Some(Exit::Code(NOT_FOUND))) {
        let mut said = said.lock().unwrap_or_else(PoisonError::into_inner);
        *said = format!("{}\n\n{offer}", said.trim_end());
    }
    let _ = to.send(Signal::AppEnded(port, group)).await;
}

/// An app that said nothing leaves at least how it ended.
fn say_if_silent(said: &Mutex<String>, ended: Option<Exit>) {
    let mut said = said.lock().unwrap_or_else(PoisonError::into_inner);
    if said.trim().is_empty() {
        *said = match ended {
            Some(Exit::Code(code)) => format!("no output; exit code {code}"),
            Some(Exit::Signal(signal)) => format!("no output; killed by signal {signal}"),
            None => "no output".to_owned(),
        };
    }
}
