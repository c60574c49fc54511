//! `warren template`: what the template of new sessions needs. Works on the data directory itself and needs no server.

use anyhow::Result;
use serde_json::json;
use warren_env::Env;
use warren_programs::{Agent, Installed, Program, Programs, Python};

use super::agents::bars::Bars;
use crate::{
    cli,
    embed::{self, Trial, Trials},
    invocation::Invocation,
    render::{clean, size},
    report::Outcome,
    setting::Setting,
    terminal::Terminal,
};

/// How the layer is tried: whatever else is in it, Next.js must start.
const TRIED: Agent = Agent {
    name: "template",
    package: "next",
    version: "",
    program: Program::Node { file: "node_modules/next/dist/bin/next", least_version: 20 },
    extras: &[],
    companions: &[],
    path: &[],
    check: &["--version"],
    // Its hashes are those of the layer.
    lock: "",
};

/// Runs the verb.
pub(crate) async fn run(setting: &Setting, args: cli::Template, terminal: &mut Terminal) -> Result<Outcome> {
    let config = setting.load()?.config;
    let programs = Programs::new(embed::programs(&config), Env::system());
    match args {
        cli::Template::Show { json } => show(setting, &programs, json, terminal).await,
        cli::Template::Install { no_python, json } => {
            setting.home.make()?;
            let python = if no_python { Python::Without } else { Python::IfThere };
            install(setting, &programs, python, json, terminal).await
        }
        cli::Template::Remove => {
            programs.layer_remove().await?;
            terminal.line("Removed the packages of the template")?;
            Ok(Outcome::Done)
        }
    }
}

async fn install(
    setting: &Setting,
    programs: &Programs,
    python: Python,
    is_json: bool,
    terminal: &mut Terminal,
) -> Result<Outcome> {
    let bars = Bars::new("template", is_json);
    let installed = programs.layer_install(python, &bars.report()).await;
    bars.finish();
    installed?;
    show(setting, programs, is_json, terminal).await
}

async fn show(
    setting: &Setting,
    programs: &Programs,
    is_json: bool,
    terminal: &mut Terminal,
) -> Result<Outcome> {
    let installed = programs.layer();
    let trial = match &installed {
        Some(installed) => {
            terminal.status(Some("Checking that Next.js starts…".to_owned()));
            Some(attempt(installed).await?)
        }
        None => None,
    };
    let pinned = Programs::layer_version();
    let runs = trial.as_ref().is_none_or(|trial| trial.runs);
    if is_json {
        let is_current = installed.as_ref().is_some_and(|installed| installed.version == pinned);
        let python = installed.as_ref().is_some_and(|installed| installed.python_packages().is_some());
        let found = json!({
            "installed": installed, "isCurrent": is_current, "python": python, "pinnedVersion": pinned, "trial": trial,
        });
        terminal.line(&found.to_string())?;
    } else {
        let text = as_text(installed.as_ref(), trial.as_ref(), &pinned, terminal, &setting.invocation);
        terminal.write(&text)?;
    }
    Ok(if runs { Outcome::Done } else { Outcome::Failed })
}

async fn attempt(installed: &Installed) -> Result<Trial> {
    let place = Trials::open()?;
    let trial = place.run(&TRIED, installed).await;
    place.close().await;
    Ok(trial)
}

fn as_text(
    installed: Option<&Installed>,
    trial: Option<&Trial>,
    pinned: &str,
    terminal: &Terminal,
    invocation: &Invocation,
) -> String {
    let (Some(installed), Some(trial)) = (installed, trial) else {
        return invocation.adapt(
            "The packages of the template are not installed. `warren template install` installs them.\n",
        );
    };
    let paint = terminal.paint();
    let mark = if trial.runs { paint.green("✓") } else { paint.red("✗") };
    let python = if installed.python_packages().is_some() { "Node and Python" } else { "Node only" };
    let (n, bytes) = (installed.packages.len(), size(installed.size_bytes));
    let mut lines = vec![format!(
        "{mark} template {}, {n} packages for {python}, {bytes}, in {}",
        installed.version,
        installed.directory.display()
    )];
    if installed.version != pinned {
        lines.push(
            invocation
                .adapt(&format!("  hint: `warren template install` installs {pinned}, the tested version")),
        );
    }
    lines.extend(trial.problem.iter().map(|problem| format!("  {}", clean(problem))));
    lines.extend(trial.output.lines().map(|line| format!("  {}", paint.dim(&clean(line)))));
    lines.extend(trial.hint.iter().map(|hint| format!("  hint: {}", invocation.adapt(hint))));
    lines.push(String::new());
    lines.join("\n")
}
