//! `cargo xtask record <agent> <scenario>`: a real agent, the demo model, and what came of it as a new recording.
//!
//! The agent runs in a small sandbox, at the paths that every sandbox of Warren has, so that a recording knows nothing of
//! the machine it was made on. It is driven by its own adapter, through `crates/agents/examples/drive.rs`.

mod redact;

use std::{
    fs,
    io::{BufRead as _, BufReader},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
};

use anyhow::{Context, Result, bail};
use serde::Deserialize;

use crate::{
    cargo, packages,
    workspace::{self, Workspace},
};

/// Arguments of the verb.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Which agent: claude-code, gemini-cli, opencode, codex, or codex-acp, gemini-acp and opencode-acp for ACP.
    agent: String,
    /// What it is to do: a name of the table, or any name with `--prompt`.
    scenario: String,
    /// What it is told, instead of what the table says.
    #[arg(long)]
    prompt: Option<String>,
    /// Further words for the driver, such as `mode=ask` or `interrupt=text_delta`.
    #[arg(long = "with")]
    settings: Vec<String>,
    /// Where the recording goes; beside the others unless said.
    #[arg(long)]
    into: Option<PathBuf>,
}

/// What a scenario tells the agent, and how it is disturbed.
const SCENARIOS: &[(&str, &str, &[&str])] = &[
    ("text", "hello", &[]),
    ("thinking", "think about it", &[]),
    ("tool", "run: echo hello > made.txt; cat made.txt", &[]),
    ("failing-tool", "show me a failing tool", &[]),
    ("parallel", "use tools in parallel", &[]),
    ("subagent", "ask a subagent for a review", &[]),
    ("retry", "error 529 once", &[]),
    ("error", "error 400", &[]),
    ("interrupt", "count to 500", &["interrupt=text_delta"]),
    ("allowed", "run: touch allowed.txt", &["mode=ask", "answer=allow"]),
    ("denied", "run: touch denied.txt", &["mode=ask", "answer=deny"]),
    ("question", "ask me a question", &["mode=ask", "answer=allow"]),
];

/// How an agent is started and how its recordings are called.
struct Shape {
    /// Its adapter.
    adapter: String,
    /// The program that `warren agents install` brings.
    program: String,
    /// The profile's command, for an agent that speaks ACP.
    command: Option<&'static str>,
    /// The recording holds both directions.
    both: bool,
    stream: &'static str,
    main: &'static str,
    subagents: &'static str,
}

/// What is said here is what differs: any agent that has an adapter and a program is recorded as the last arm says.
fn shape(agent: &str) -> Shape {
    let of = |stream, main, subagents| Shape {
        adapter: agent.to_owned(),
        program: agent.to_owned(),
        command: None,
        both: false,
        stream,
        main,
        subagents,
    };
    let acp = |program: &str, command| Shape {
        adapter: "acp".to_owned(),
        program: program.to_owned(),
        command: Some(command),
        both: true,
        ..of("in.jsonl", "main", "subagents")
    };
    match agent {
        "gemini-cli" => of("stream.jsonl", "chats/session.jsonl", "chats/session"),
        "opencode" => of("events.sse", "messages.json", "subagents"),
        "codex" => Shape { both: true, ..of("stream.jsonl", "rollout.jsonl", "subagents") },
        "codex-acp" => acp("codex-acp", "codex-acp"),
        "gemini-acp" => acp("gemini-cli", "gemini-cli --acp"),
        "opencode-acp" => acp("opencode", "opencode acp"),
        _ => of("in.jsonl", "transcript.jsonl", "subagents"),
    }
}

/// Runs the verb.
pub(crate) fn run(args: &Args) -> Result<()> {
    let shape = shape(&args.agent);
    let (prompt, settings) = scenario(args)?;
    packages::ensure(&[packages::bubblewrap()])?;
    let workspace = Workspace::load_members(&workspace::root()?)?;
    let (root, target) = (&workspace.workspace_root, &workspace.target_directory);
    build(root)?;
    let installed = install(target, &shape.program)?;
    let place = target.join("record").join(format!("{}-{}", args.agent, args.scenario));
    if place.exists() {
        fs::remove_dir_all(&place).with_context(|| format!("failed to empty `{}`", place.display()))?;
    }
    for name in ["home", "workspace", "kept"] {
        fs::create_dir_all(place.join(name)).context("failed to make a place for the agent")?;
    }
    let model = DemoModel::start(target)?;
    let mut drive = sandboxed(target, &place);
    drive.args(["/drive", &shape.adapter, "/home/agent", "/workspace", &prompt, "record=/kept", "quiet=1"]);
    drive.args(model.addresses()).arg(format!(
        "program:{}={}",
        shape.program,
        installed.words(&shape.program)
    ));
    drive.args(shape.both.then_some("both=1"));
    drive.args(shape.command.map(|command| format!("command={command}"))).args(settings);
    cargo::run(&mut drive)?;
    let folder = if shape.adapter == "acp" { "acp" } else { args.agent.as_str() };
    let name = if folder == "acp" {
        format!("{}-{}", args.agent.trim_end_matches("-acp"), args.scenario)
    } else {
        args.scenario.clone()
    };
    let beside = root.join("crates/agents/fixtures").join(folder).join(name);
    keep(&shape, &place.join("kept"), args.into.as_ref().unwrap_or(&beside), &installed.version)
}

/// What the agent is told, and the driver's further words.
fn scenario(args: &Args) -> Result<(String, Vec<String>)> {
    let known = SCENARIOS.iter().find(|(name, ..)| *name == args.scenario);
    let prompt = args.prompt.clone().or_else(|| known.map(|(_, prompt, _)| (*prompt).to_owned()));
    let names = SCENARIOS.iter().map(|(name, ..)| *name).collect::<Vec<_>>().join(", ");
    let prompt = prompt.with_context(|| {
        format!("there is no scenario `{}`\nhint: take one of {names}, or say `--prompt`", args.scenario)
    })?;
    let own = known.filter(|_| args.prompt.is_none()).map_or(&[][..], |(_, _, settings)| *settings);
    Ok((prompt, own.iter().map(|word| (*word).to_owned()).chain(args.settings.iter().cloned()).collect()))
}

fn build(root: &Path) -> Result<()> {
    cargo::run(cargo::cargo(root).args(["build", "--quiet", "--package", "warren", "--bin", "warren"]))?;
    for (package, example) in [("warren-agents", "drive"), ("warren-models", "demo_server")] {
        cargo::run(cargo::cargo(root).args([
            "build",
            "--quiet",
            "--package",
            package,
            "--example",
            example,
        ]))?;
    }
    Ok(())
}

/// What `warren agents install` says it put there.
#[derive(Deserialize)]
struct Installed {
    version: String,
    file: String,
    interpreter: Option<String>,
}

impl Installed {
    /// The words that start it, where agents' programs are in every sandbox.
    fn words(&self, program: &str) -> String {
        let file = format!("/opt/agents/{program}/{}", self.file);
        self.interpreter.iter().cloned().chain([file]).collect::<Vec<_>>().join(" ")
    }
}

fn install(target: &Path, program: &str) -> Result<Installed> {
    let agents = target.join("agents");
    let description = agents.join(program).join("current.json");
    if !description.exists() {
        let mut install = Command::new(target.join("debug/warren"));
        install.args(["agents", "install", program, "--dir"]).arg(target.join("record/server"));
        cargo::run(install.env("WARREN_AGENTS_DIRECTORY", &agents))?;
    }
    let text = crate::tree::read(&description)?;
    serde_json::from_str(&text).with_context(|| format!("failed to read `{}`", description.display()))
}

/// A sandbox with the paths of Warren's own; the machine's loopback is where the model is.
fn sandboxed(target: &Path, place: &Path) -> Command {
    let guest =
        target.join(format!("guest-debug/{}-unknown-linux-gnu/guest/warren-guest", std::env::consts::ARCH));
    let mut command = Command::new("bwrap");
    command.args(["--unshare-all", "--share-net", "--die-with-parent", "--clearenv"]);
    command.args(["--setenv", "PATH", "/usr/local/bin:/usr/bin:/bin", "--setenv", "LANG", "C.UTF-8"]);
    command.args([
        "--ro-bind",
        "/usr",
        "/usr",
        "--symlink",
        "usr/bin",
        "/bin",
        "--symlink",
        "usr/sbin",
        "/sbin",
    ]);
    command.args([
        "--symlink",
        "usr/lib",
        "/lib",
        "--symlink",
        "usr/lib64",
        "/lib64",
        "--ro-bind",
        "/etc",
        "/etc",
    ]);
    command.args(["--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp", "--chdir", "/"]);
    command.arg("--bind").arg(place.join("home")).arg("/home/agent");
    command.arg("--bind").arg(place.join("workspace")).arg("/workspace");
    command.arg("--bind").arg(place.join("kept")).arg("/kept");
    command.arg("--ro-bind").arg(target.join("agents")).arg("/opt/agents");
    command.arg("--ro-bind").arg(guest).arg("/warren/guest");
    command.arg("--ro-bind").arg(target.join("debug/examples/drive")).arg("/drive");
    command
}

/// The scripted model, until it is dropped.
struct DemoModel {
    process: Child,
    address: String,
}

impl DemoModel {
    fn start(target: &Path) -> Result<DemoModel> {
        let mut command = Command::new(target.join("debug/examples/demo_server"));
        let mut process = command.stdout(Stdio::piped()).spawn().context("failed to start the demo model")?;
        let mut line = String::new();
        if let Some(stdout) = process.stdout.take() {
            BufReader::new(stdout).read_line(&mut line).context("failed to read the demo model's address")?;
        }
        let address = line.trim().strip_prefix("listening on ").unwrap_or_default().to_owned();
        let model = DemoModel { process, address };
        if model.address.is_empty() {
            bail!("the demo model did not say where it listens");
        }
        Ok(model)
    }

    fn addresses(&self) -> [String; 4] {
        ["anthropic", "gemini", "chat", "responses"].map(|api| format!("{api}={}", self.address))
    }
}

impl Drop for DemoModel {
    fn drop(&mut self) {
        // It is gone if that fails.
        let _ = self.process.kill().and_then(|()| self.process.wait());
    }
}

/// Puts the recording where it belongs, without what is nobody's business.
fn keep(shape: &Shape, kept: &Path, into: &Path, version: &str) -> Result<()> {
    let copy = |from: &Path, to: PathBuf| -> Result<()> {
        let bytes = fs::read(from).with_context(|| format!("failed to read `{}`", from.display()))?;
        let parent = to.parent().context("a recording is in a directory")?;
        fs::create_dir_all(parent).with_context(|| format!("failed to make `{}`", parent.display()))?;
        fs::write(&to, redact::redacted(&bytes))
            .with_context(|| format!("failed to write `{}`", to.display()))
    };
    copy(&kept.join("stream"), into.join(shape.stream))?;
    if kept.join("main").is_file() {
        copy(&kept.join("main"), into.join(shape.main))?;
    }
    let subagents = kept.join("subagents");
    if subagents.is_dir() {
        for file in crate::tree::files(&subagents)? {
            let name = format!("{}.jsonl", file.to_string_lossy());
            copy(&subagents.join(&file), into.join(shape.subagents).join(name))?;
        }
    }
    println!("{} {version}: recorded in {}", shape.program, into.display());
    println!(
        "look at it, then run `UPDATE_FIXTURES=1 cargo nextest run -p warren-agents` and look at what changed"
    );
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{Args, Installed, scenario};

    fn args(scenario: &str, prompt: Option<&str>) -> Args {
        Args {
            agent: "codex".to_owned(),
            scenario: scenario.to_owned(),
            prompt: prompt.map(str::to_owned),
            settings: vec!["model=x".to_owned()],
            into: None,
        }
    }

    #[test]
    fn a_scenario_is_one_of_the_table_or_has_a_prompt_of_its_own() {
        let (prompt, settings) = scenario(&args("denied", None)).unwrap();
        assert_eq!((prompt.as_str(), settings.len()), ("run: touch denied.txt", 3));
        let (prompt, settings) = scenario(&args("mine", Some("hello"))).unwrap();
        assert_eq!((prompt.as_str(), settings.len()), ("hello", 1));
        assert!(scenario(&args("mine", None)).unwrap_err().to_string().contains("`mine`"));
    }

    #[test]
    fn a_program_is_started_from_where_every_sandbox_has_it() {
        let installed = Installed {
            version: "1".to_owned(),
            file: "bundle/gemini.js".to_owned(),
            interpreter: Some("node".to_owned()),
        };
        assert_eq!(installed.words("gemini-cli"), "node /opt/agents/gemini-cli/bundle/gemini.js");
    }
}
