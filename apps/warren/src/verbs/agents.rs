//! `warren agents`: programs of agents. Works on the data directory itself and needs no server.

pub(super) mod bars;
mod npm;

use std::path::Path;

use anyhow::{Result, bail};
use serde_json::{Value, json};
use warren_env::Env;
use warren_programs::{AgentStatus, Installed, Programs};

use crate::{
    cli,
    embed::{self, Trial, Trials},
    invocation::Invocation,
    render::{clean, size},
    report::{Advised, Outcome, report},
    setting::Setting,
    table::Table,
    terminal::Terminal,
};
use bars::Bars;

/// Runs the verb.
pub(crate) async fn run(setting: &Setting, args: cli::Agents, terminal: &mut Terminal) -> Result<Outcome> {
    let config = setting.load()?.config;
    let programs = Programs::new(embed::programs(&config), Env::system());
    match args {
        cli::Agents::List { json } => list(&programs, json, terminal).await,
        cli::Agents::Install { names, path: Some(path), json, .. } => {
            let [name] = names.as_slice() else {
                bail!(Advised::new(
                    "`--path` needs exactly one agent",
                    "write `warren agents install NAME --path FILE`"
                ));
            };
            setting.home.make()?;
            install(setting, &programs, &[Wanted { name, from: From::File(&path) }], json, terminal).await
        }
        cli::Agents::Install { names, npm, json, .. } if npm::is_meant(&names, &npm) => {
            setting.home.make()?;
            npm::install(setting, &programs, &names, npm, json, terminal).await
        }
        cli::Agents::Install { names, all, path: None, json, .. } => {
            let every = || programs.list().into_iter().map(|status| status.agent.name.to_owned()).collect();
            let names = if all { every() } else { names };
            setting.home.make()?;
            let wanted: Vec<Wanted<'_>> = names.iter().map(|name| Wanted::parse(name)).collect();
            install(setting, &programs, &wanted, json, terminal).await
        }
        cli::Agents::Remove { names } => remove(&programs, &names, terminal).await,
        cli::Agents::Doctor { name, json } => doctor(setting, &programs, name, json, terminal).await,
    }
}

async fn list(programs: &Programs, is_json: bool, terminal: &mut Terminal) -> Result<Outcome> {
    terminal.status(Some("Checking the installed agents…".to_owned()));
    let statuses = programs.list();
    let trials = try_all(&statuses).await?;
    let npm = npm::try_all(programs).await?;
    let rows = statuses.iter().zip(&trials);
    if is_json {
        let npm = npm.iter().map(|(recipe, installed, trial)| npm::as_json(recipe, installed, trial));
        let agents: Vec<Value> =
            rows.map(|(status, trial)| as_json(status, trial.as_ref())).chain(npm).collect();
        terminal.line(&json!({ "agents": agents }).to_string())?;
        return Ok(Outcome::Done);
    }
    let mut table = Table::new(["AGENT", "INSTALLED", "TESTED", "SIZE", "STARTS"]);
    for (status, trial) in rows {
        let of = |show: fn(&Installed) -> String| status.installed.as_ref().map_or("-".to_owned(), show);
        table.row([
            status.agent.name.to_owned(),
            of(|installed| installed.version.clone()),
            status.agent.version.to_owned(),
            of(|installed| size(installed.size_bytes)),
            trial.as_ref().map_or("-".to_owned(), |trial| clean(&trial.summary())),
        ]);
    }
    for (recipe, installed, trial) in npm {
        table.row([
            recipe.id,
            recipe.version.clone(),
            format!("npm:{}", recipe.package),
            size(installed.size_bytes),
            clean(&trial.summary()),
        ]);
    }
    terminal.write(&table.to_text(terminal.paint()))?;
    Ok(Outcome::Done)
}

/// Tries what is installed, one after the other: they are large, and the machine may be small.
async fn try_all(statuses: &[AgentStatus]) -> Result<Vec<Option<Trial>>> {
    if statuses.iter().all(|status| status.installed.is_none()) {
        return Ok(vec![None; statuses.len()]);
    }
    let place = Trials::open()?;
    let mut trials = Vec::new();
    for status in statuses {
        trials.push(match &status.installed {
            Some(installed) => Some(place.run(&status.agent, installed).await),
            None => None,
        });
    }
    place.close().await;
    Ok(trials)
}

/// An agent to install.
struct Wanted<'a> {
    name: &'a str,
    from: From<'a>,
}

/// Where its program comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum From<'a> {
    /// The registry, in the version that is tested with this program.
    Tested,
    /// The registry, in this version.
    Version(&'a str),
    /// A file of this machine.
    File(&'a Path),
}

impl<'a> Wanted<'a> {
    /// Reads `codex` or `codex@0.169.0`.
    fn parse(text: &'a str) -> Self {
        match text.split_once('@') {
            Some((name, version)) => Self { name, from: From::Version(version) },
            None => Self { name: text, from: From::Tested },
        }
    }
}

async fn install(
    setting: &Setting,
    programs: &Programs,
    all: &[Wanted<'_>],
    is_json: bool,
    terminal: &mut Terminal,
) -> Result<Outcome> {
    let mut outcome = Outcome::Done;
    for Wanted { name, from } in all {
        let bars = Bars::new(name, is_json);
        let installed = match from {
            From::Tested => programs.install(name, &bars.report()).await,
            From::Version(version) => programs.install_version(name, version, &bars.report()).await,
            From::File(path) => programs.install_local(name, path, &bars.report()).await,
        };
        bars.finish();
        match installed {
            Ok(installed) => {
                if let Some(note) = note(programs, &installed, *from).filter(|_| !is_json) {
                    eprintln!("{note}");
                }
                terminal.status(Some(format!("Checking that {name} starts…")));
                outcome = worse(outcome, show_trials(setting, programs, name, is_json, terminal).await?);
            }
            Err(error) if is_json => {
                terminal.line(
                    &json!({ "name": name, "error": format!("{:#}", anyhow::anyhow!(error)) }).to_string(),
                )?;
                outcome = Outcome::Failed;
            }
            // The others may still succeed.
            Err(error) => {
                terminal.status(None);
                report(&error.into(), &setting.invocation);
                outcome = Outcome::Failed;
            }
        }
    }
    Ok(outcome)
}

/// How far a version that is not built in can be trusted.
fn note(programs: &Programs, installed: &Installed, from: From<'_>) -> Option<String> {
    let agents = programs.list();
    let tested = agents.iter().find(|status| status.agent.name == installed.name)?.agent.version;
    let Installed { name, version, .. } = installed;
    match from {
        From::Tested => None,
        From::Version(_) if version == tested => None,
        From::Version(_) => Some(format!(
            "{name} {version} is not the tested version ({tested}). Its hash came from the registry and is pinned now: \
             another package of the same version will be refused."
        )),
        From::File(path) => {
            Some(format!("{name} is a copy of {}. Reinstall it after you change it.", path.display()))
        }
    }
}

async fn remove(programs: &Programs, names: &[String], terminal: &mut Terminal) -> Result<Outcome> {
    for name in names {
        programs.remove(name).await?;
        terminal.line(&format!("Removed {name}"))?;
    }
    Ok(Outcome::Done)
}

async fn doctor(
    setting: &Setting,
    programs: &Programs,
    name: Option<String>,
    is_json: bool,
    terminal: &mut Terminal,
) -> Result<Outcome> {
    let found = |name: &String| programs.find(name).is_some() || programs.npm_find(name).is_some();
    let names: Vec<String> = match name {
        Some(name) if !found(&name) => {
            let hint = format!("install it with `warren agents install {name}`");
            return Err(Advised::new(format!("`{name}` is not installed"), hint).into());
        }
        Some(name) => vec![name],
        None => {
            let table = programs.list().into_iter().map(|status| status.agent.name.to_owned());
            let npm = programs.npm_list().into_iter().map(|(recipe, _)| recipe.id);
            table.chain(npm).filter(found).collect()
        }
    };
    if names.is_empty() && !is_json {
        let hint = "No agents are installed. `warren agents install --all` installs all of them.";
        terminal.line(&setting.invocation.adapt(hint))?;
    }
    let mut outcome = Outcome::Done;
    for name in names {
        terminal.status(Some(format!("Checking that {name} starts…")));
        outcome = worse(outcome, show_trials(setting, programs, &name, is_json, terminal).await?);
    }
    Ok(outcome)
}

/// Tries one program and says what became of it.
async fn show_trials(
    setting: &Setting,
    programs: &Programs,
    name: &str,
    is_json: bool,
    terminal: &mut Terminal,
) -> Result<Outcome> {
    if let Some((recipe, installed)) = programs.npm_find(name) {
        let place = Trials::open()?;
        let trial = place.greet(&recipe, &installed).await;
        place.close().await;
        return npm::show(setting, &recipe, &installed, &trial, is_json, terminal);
    }
    let statuses: Vec<AgentStatus> =
        programs.list().into_iter().filter(|status| status.agent.name == name).collect();
    let trials = try_all(&statuses).await?;
    let mut outcome = Outcome::Done;
    for (status, trial) in statuses.iter().zip(&trials) {
        let (Some(installed), Some(trial)) = (&status.installed, trial) else { continue };
        if is_json {
            terminal.line(&as_json(status, Some(trial)).to_string())?;
        } else {
            terminal.write(&as_text(installed, trial, terminal, &setting.invocation))?;
        }
        if !trial.runs {
            outcome = Outcome::Failed;
        }
    }
    Ok(outcome)
}

fn as_text(installed: &Installed, trial: &Trial, terminal: &Terminal, invocation: &Invocation) -> String {
    let paint = terminal.paint();
    let mark = if trial.runs { paint.green("✓") } else { paint.red("✗") };
    let Installed { name, version, size_bytes, directory, .. } = installed;
    let mut lines =
        vec![format!("{mark} {name} {version}, {}, in {}", size(*size_bytes), directory.display())];
    lines.extend(trial.problem.iter().map(|problem| format!("  {}", clean(problem))));
    lines.extend(trial.output.lines().map(|line| format!("  {}", paint.dim(&clean(line)))));
    lines.extend(trial.hint.iter().map(|hint| format!("  hint: {}", invocation.adapt(hint))));
    lines.push(String::new());
    lines.join("\n")
}

fn as_json(status: &AgentStatus, trial: Option<&Trial>) -> Value {
    json!({
        "name": status.agent.name,
        "package": status.agent.package,
        "pinnedVersion": status.agent.version,
        "installed": status.installed,
        "isCurrent": status.is_current(),
        "trial": trial,
    })
}

fn worse(one: Outcome, other: Outcome) -> Outcome {
    if one == Outcome::Done { other } else { one }
}
