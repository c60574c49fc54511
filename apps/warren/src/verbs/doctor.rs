//! `warren doctor`: what this machine can do, what is missing, and how to get it. Needs no server.

use anyhow::Result;
use serde::Serialize;
use warren_config::{Config, Office};
use warren_env::Env;
use warren_models::{PRICE_LISTS, PriceList};
use warren_programs::Programs;
use warren_sandbox::{Isolation, Probe};
use warren_server::Advice;

use crate::{
    answerers::{Answerer, advice, answerers},
    cli, embed,
    home::Holder,
    render::{Paint, size},
    report::Outcome,
    setting::Setting,
    terminal::Terminal,
};

/// Everything that was found.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Findings {
    version: &'static str,
    data_directory: String,
    /// The server that works there now.
    server: Option<Holder>,
    isolation: Option<Probe>,
    agents: Vec<String>,
    /// The agents' programs that can be installed, and which of them are.
    programs: Vec<Program>,
    /// What new sessions begin with.
    template: Option<String>,
    /// What converts documents.
    documents: Option<String>,
    models: Vec<Model>,
    /// Where the built-in prices of models are from, and since when.
    prices: Vec<Prices>,
    /// What is missing; the first ones keep agents from running.
    problems: Vec<Problem>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Program {
    name: String,
    installed: bool,
    version: Option<String>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Model {
    provider: &'static str,
    base_url: String,
    key: &'static str,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Prices {
    provider: &'static str,
    source: &'static str,
    as_of: &'static str,
    n_models: usize,
}

impl Prices {
    /// Those of all providers.
    fn all() -> Vec<Self> {
        let of = |list: &PriceList| Self {
            provider: list.provider,
            source: list.source,
            as_of: list.as_of,
            n_models: list.models.len(),
        };
        PRICE_LISTS.iter().map(of).collect()
    }
}

#[derive(Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
struct Problem {
    /// Whether agents cannot run because of it.
    is_fatal: bool,
    problem: String,
    hint: String,
}

/// Runs the verb.
pub(crate) async fn run(setting: &Setting, args: cli::Doctor, terminal: &mut Terminal) -> Result<Outcome> {
    terminal.status(Some("Checking this machine…".to_owned()));
    let findings = examine(setting).await?;
    if args.json {
        terminal.line(&serde_json::to_string(&findings)?)?;
    } else {
        terminal.write(&findings.to_text(terminal.paint()))?;
    }
    let is_fatal = findings.problems.iter().any(|problem| problem.is_fatal);
    Ok(if is_fatal { Outcome::Failed } else { Outcome::Done })
}

async fn examine(setting: &Setting) -> Result<Findings> {
    let mut findings = Findings {
        version: env!("CARGO_PKG_VERSION"),
        data_directory: setting.home.directory().display().to_string(),
        server: running(setting).await,
        isolation: None,
        agents: warren_agents::adapters().iter().map(|agent| agent.agent_type().to_string()).collect(),
        programs: Vec::new(),
        template: None,
        documents: None,
        models: Vec::new(),
        prices: Prices::all(),
        problems: Vec::new(),
    };
    let required = match setting.load() {
        Ok(loaded) => {
            findings.look_at_models(&loaded.config);
            findings.look_at_programs(&loaded.config);
            findings.template = Some(setting.invocation.adapt(&template(&loaded.config)));
            findings.documents = Some(setting.invocation.adapt(&documents(&loaded.config)));
            if let Some(advice) = embed::storage_advice(&loaded.config, setting.home.directory()) {
                let (problem, hint) = (advice.problem, advice.hint);
                findings.problems.push(Problem { is_fatal: false, problem, hint });
            }
            embed::required_layers(&loaded.config)
        }
        Err(error) => {
            let hint = "fix it, then run `warren config check`".to_owned();
            findings.problems.push(Problem { is_fatal: true, problem: format!("{error:#}"), hint });
            warren_sandbox::Layer::BASIC.to_vec()
        }
    };
    match embed::probe().await {
        Ok(probe) => findings.look_at_isolation(probe, &required),
        Err(error) => findings.problems.push(Problem {
            is_fatal: true,
            problem: format!("{error:#}"),
            hint: "check that the temporary directory is writable".to_owned(),
        }),
    }
    for problem in &mut findings.problems {
        problem.hint = setting.invocation.adapt(&problem.hint);
    }
    // The fatal ones first, in the order they were found.
    findings.problems.sort_by_key(|problem| !problem.is_fatal);
    Ok(findings)
}

/// What new sessions begin with, in a few words.
fn template(config: &Config) -> String {
    let packages = match Programs::new(embed::programs(config), Env::system()).layer() {
        Some(layer) => format!("packages installed, {}", size(layer.size_bytes)),
        None => {
            let hint = "packages not installed: `warren template install`";
            hint.to_owned()
        }
    };
    match &config.storage.outputs_template {
        Some(directory) => format!("{}; {packages}", directory.display()),
        None => format!("the built-in template; {packages}"),
    }
}

/// What converts documents, in a few words.
fn documents(config: &Config) -> String {
    let choice = embed::documents(config).office;
    match (choice.find(), &config.documents.libreoffice) {
        (Some(office), _) => format!("{}, {}", office.name(), office.root.display()),
        (None, Office::Off) => "not converted: `documents.libreoffice` is `off`".to_owned(),
        (None, Office::Auto | Office::At(_)) => format!("LibreOffice not found: {}", choice.hint()),
    }
}

async fn running(setting: &Setting) -> Option<Holder> {
    let holder = setting.home.holder()?;
    let client = crate::client::Client::new(&holder.url, None).ok()?;
    client.health().await.is_ok().then_some(holder)
}

impl Findings {
    fn look_at_models(&mut self, config: &Config) {
        let all = answerers(config);
        for Advice { problem, hint } in advice(&all) {
            self.problems.push(Problem { is_fatal: false, problem, hint });
        }
        let models =
            all.into_iter().map(|Answerer { provider, base_url, key, .. }| Model { provider, base_url, key });
        self.models = models.collect();
    }

    fn look_at_programs(&mut self, config: &Config) {
        let known = Programs::new(embed::programs(config), Env::system()).list();
        self.programs = known
            .into_iter()
            .map(|status| {
                let version = status.installed.map(|installed| installed.version);
                Program { name: status.agent.name.to_owned(), installed: version.is_some(), version }
            })
            .collect();
    }

    fn look_at_isolation(&mut self, probe: Probe, required: &[warren_sandbox::Layer]) {
        let missing = probe.isolation.missing(required);
        for found in &probe.hints {
            let is_fatal = !probe.usable || missing.contains(&found.layer);
            match self.problems.last_mut() {
                // One remedy for several layers is told once.
                Some(last) if last.hint == found.hint && last.is_fatal == is_fatal => {
                    last.problem = format!("{}; {}", last.problem, found.problem);
                }
                _ => self.problems.push(Problem {
                    is_fatal,
                    problem: found.problem.clone(),
                    hint: found.hint.clone(),
                }),
            }
        }
        self.isolation = Some(probe);
    }

    fn to_text(&self, paint: Paint) -> String {
        let mut lines = vec![format!("{} {}", paint.bold("Warren"), self.version), String::new()];
        let mut fact = |name: &str, value: &str| lines.push(format!("  {name:<10}  {value}"));
        fact("data", &self.data_directory);
        match &self.server {
            Some(Holder { url, pid }) => fact("server", &format!("{url}, process {pid}")),
            None => fact("server", "none is running; commands start their own"),
        }
        if let Some(probe) = &self.isolation {
            let version = probe.version.as_deref().unwrap_or("not found");
            fact("sandbox", &format!("{}, {version}", probe.backend));
        }
        fact("agents", &self.agents.join(", "));
        for program in &self.programs {
            let version = program.version.as_deref().unwrap_or("not installed");
            fact("programs", &format!("{}, {version}", program.name));
        }
        if let Some(template) = &self.template {
            fact("template", template);
        }
        if let Some(documents) = &self.documents {
            fact("documents", documents);
        }
        for model in &self.models {
            fact("models", &format!("{}, key {}, {}", model.provider, model.key, model.base_url));
        }
        for Prices { provider, source, as_of, n_models } in &self.prices {
            fact("prices", &format!("{provider}, {n_models} models, as of {as_of}, {source}"));
        }
        lines.push(String::new());
        lines.extend(self.isolation.iter().flat_map(|probe| layers(&probe.isolation, paint)));
        if !self.problems.is_empty() {
            lines.push(String::new());
        }
        for problem in &self.problems {
            let mark = if problem.is_fatal { paint.red("✗") } else { paint.yellow("!") };
            lines.push(format!("{mark} {}", problem.problem));
            // Adapted when it was found.
            lines.push(["  hint: ", &problem.hint].concat());
        }
        let verdict = if self.problems.iter().any(|problem| problem.is_fatal) {
            paint.red("Agents cannot run here yet.")
        } else {
            paint.green("Agents can run here.")
        };
        lines.extend([String::new(), verdict, String::new()]);
        lines.join("\n")
    }
}

/// Each layer with whether it is there.
fn layers(isolation: &Isolation, paint: Paint) -> Vec<String> {
    use warren_sandbox::Layer;
    let rows = [
        (Layer::Namespaces, "separate users and processes"),
        (Layer::Network, "no network"),
        (Layer::Seccomp, "system calls filtered"),
        (Layer::Landlock, "files confined by Landlock"),
        (Layer::OwnUid, "a separate user for each workspace"),
        (Layer::MemoryLimit, "memory limit"),
        (Layer::CpuLimit, "CPU limit"),
        (Layer::PidsLimit, "process limit"),
    ];
    let row = |(layer, meaning): (Layer, &str)| {
        let mark = if isolation.has(layer) { paint.green("✓") } else { paint.yellow("–") };
        format!("  {mark} {meaning}")
    };
    let mut lines: Vec<String> = rows.into_iter().map(row).collect();
    // As the page has it: only a limit that the kernel holds is one.
    let mark = if isolation.disk.how == "best effort" { paint.yellow("–") } else { paint.green("✓") };
    lines.push(format!("  {mark} disk limit, {}", isolation.disk.how));
    lines.extend(isolation.notes.iter().map(|note| format!("    {}", paint.dim(note))));
    lines
}
