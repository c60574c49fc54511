//! Tries agents' programs: in a real sandbox, without a network, and with nothing of anybody's in it.

mod greeting;

use std::{collections::BTreeMap, fs::Permissions, os::unix::fs::PermissionsExt as _, time::Duration};

use anyhow::{Context as _, Result};
use serde::Serialize;
use tempfile::TempDir;
use tokio::io::AsyncReadExt as _;
use warren_env::Tasks;
use warren_guest_api::{ExecRequest, Exit, Leftovers};
use warren_programs::{Agent, Installed, NpmRecipe, Program};
use warren_sandbox::{Backend as _, Layer, Limits, Mounts, Sandbox, SandboxId, Spec, local::Local};

/// Programs are slow to start on a busy machine, but not this slow.
const PATIENCE: Duration = Duration::from_secs(60);
/// The oldest node that packages of today run on.
const LEAST_NODE: u32 = 18;
/// Nobody's, as for the probe of the machine.
const UID: u32 = 65534;
/// More of an output is of no use to anybody.
const MAX_OUTPUT: u64 = 16 * 1024;

/// A place where programs are tried.
pub(crate) struct Trials {
    backend: Local,
    directory: TempDir,
    tasks: Tasks,
}

/// What became of one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Trial {
    /// Whether the program started and ended as it should.
    pub(crate) runs: bool,
    /// What it said.
    pub(crate) output: String,
    /// What is wrong.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) problem: Option<String>,
    /// What helps.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) hint: Option<String>,
}

impl Trials {
    pub(crate) fn open() -> Result<Self> {
        let directory = tempfile::Builder::new()
            .permissions(Permissions::from_mode(0o755))
            .tempdir()
            .context("failed to make a temporary directory")?;
        let tasks = Tasks::new();
        let backend = Local::open(warren_embed::sandbox(directory.path())?, tasks.clone())?;
        Ok(Self { backend, directory, tasks })
    }

    /// Starts the program so that it says something and ends.
    pub(crate) async fn run(&self, agent: &Agent, installed: &Installed) -> Trial {
        self.with_sandbox(installed, async |sandbox| attempt(sandbox, agent, installed).await).await
    }

    async fn with_sandbox(&self, installed: &Installed, act: impl AsyncFnOnce(&Sandbox) -> Trial) -> Trial {
        match self.sandbox(installed).await {
            Ok(sandbox) => {
                let trial = act(&sandbox).await;
                if let Err(error) = sandbox.terminate().await {
                    tracing::warn!(%error, "the sandbox of a trial did not end");
                }
                trial
            }
            Err(error) => {
                let hint = "`warren doctor` lists what is missing".to_owned();
                Trial::failed("", format!("no sandbox starts here: {error:#}"), Some(hint))
            }
        }
    }

    /// Starts an agent of the npm registry and asks it whether it speaks ACP.
    pub(crate) async fn greet(&self, recipe: &NpmRecipe, installed: &Installed) -> Trial {
        self.with_sandbox(installed, async |sandbox| {
            if installed.interpreter.is_some()
                && let Some(trial) = missing_node(sandbox, LEAST_NODE).await
            {
                return trial;
            }
            greeting::greet(sandbox, recipe, installed).await
        })
        .await
    }

    pub(crate) async fn close(self) {
        self.backend.close().await;
        self.tasks.cancel();
    }

    async fn sandbox(&self, installed: &Installed) -> Result<Sandbox> {
        let place = self.directory.path().join(&installed.name);
        std::fs::create_dir_all(&place).context("failed to make a temporary directory")?;
        let mounts = Mounts {
            workspace: place.join("workspace"),
            home: place.join("home"),
            agents: [(installed.name.clone(), installed.directory.clone())].into(),
            ..Mounts::default()
        };
        let spec = Spec {
            id: SandboxId(format!("trial-{}", installed.name)),
            mounts,
            uid: UID,
            env: BTreeMap::new(),
            limits: Limits::default(),
            required: Layer::BASIC.to_vec(),
        };
        Ok(self.backend.start(spec).await?)
    }
}

async fn attempt(sandbox: &Sandbox, agent: &Agent, installed: &Installed) -> Trial {
    if let Program::Node { least_version, .. } = agent.program
        && let Some(trial) = missing_node(sandbox, least_version).await
    {
        return trial;
    }
    let mounted_at = format!("/opt/agents/{}", installed.name);
    let mut argv = installed.argv(&mounted_at);
    argv.extend(agent.check.iter().map(ToString::to_string));
    match run(sandbox, argv, installed.path(&mounted_at)).await {
        Ok((Exit::Code(0), output)) => Trial { runs: true, output, problem: None, hint: None },
        Ok((Exit::Code(code), output)) => Trial::failed(output, format!("it ended with code {code}"), None),
        Ok((Exit::Signal(signal), output)) => {
            Trial::failed(output, format!("it was killed by signal {signal}"), None)
        }
        Err(error) => Trial::failed("", format!("{error:#}"), None),
    }
}

/// What is wrong with the node of the sandbox, which is the machine's own.
async fn missing_node(sandbox: &Sandbox, least: u32) -> Option<Trial> {
    let hint = Some(format!(
        "install node {least} or newer below /usr, where sandboxes see it: `apt install nodejs`, or a package from nodejs.org"
    ));
    let argv = vec!["node".to_owned(), "--version".to_owned()];
    let said = match run(sandbox, argv, Vec::new()).await {
        Ok((Exit::Code(0), output)) => output,
        _ => {
            return Some(Trial::failed(
                "",
                "it needs node, which the sandbox does not have".to_owned(),
                hint,
            ));
        }
    };
    let major = said.trim_start_matches('v').split('.').next().and_then(|major| major.parse::<u32>().ok());
    let is_enough = major.is_some_and(|major| major >= least);
    (!is_enough).then(|| {
        let problem = format!("it needs node {least} or newer; the sandbox has {said}");
        Trial::failed("", problem, hint)
    })
}

/// Runs a program to its end; its output is what it says on both outputs.
async fn run(sandbox: &Sandbox, argv: Vec<String>, path: Vec<String>) -> Result<(Exit, String)> {
    let mut env = sandbox.env.clone();
    if let Some(rest) = env.get("PATH") {
        let all: Vec<&str> = path.iter().map(String::as_str).chain([rest.as_str()]).collect();
        env.insert("PATH".to_owned(), all.join(":"));
    }
    let request = ExecRequest {
        argv,
        env,
        cwd: Some("/workspace".to_owned()),
        leftovers: Leftovers::Kill,
        ..ExecRequest::default()
    };
    let running = async {
        let mut exec = sandbox.guest.exec(request).await?;
        let (stdout, stderr, _) = exec.split();
        let (mut said, mut complained) = (Vec::new(), Vec::new());
        let (mut first, mut second) = (stdout.take(MAX_OUTPUT), stderr.take(MAX_OUTPUT));
        let read = tokio::join!(first.read_to_end(&mut said), second.read_to_end(&mut complained));
        read.0.and(read.1)?;
        said.extend(complained);
        let output = String::from_utf8_lossy(&said).trim().to_owned();
        anyhow::Ok((exec.wait().await?, output))
    };
    let ended = tokio::time::timeout(PATIENCE, running).await;
    ended.with_context(|| format!("it did not end in {} s", PATIENCE.as_secs()))?
}

impl Trial {
    fn failed(output: impl Into<String>, problem: String, hint: Option<String>) -> Self {
        Self { runs: false, output: output.into(), problem: Some(problem), hint }
    }

    /// In one line, for a table.
    pub(crate) fn summary(&self) -> String {
        match &self.problem {
            None => format!("yes, {}", self.output.lines().next().unwrap_or_default()),
            Some(problem) => format!("no, {problem}"),
        }
    }
}
