//! `warren keys`: keys and base URLs of model providers. `warren models`: the models they offer.

use std::io::{self, IsTerminal as _};

use anyhow::{Result, bail};
use serde_json::value::RawValue;
use warren_wire::{
    ModelItem, ModelList, ProviderItem, ProviderKeySource, ProviderList, ProviderPut, ProviderTestStatus,
    ProviderTested,
};

use crate::{
    cli,
    client::Client,
    connect::with_server,
    hidden,
    invocation::Invocation,
    render::clean,
    report::{Advised, Outcome},
    setting::Setting,
    signals::Signals,
    table::Table,
    terminal::Terminal,
};

/// Runs `warren keys`.
pub(crate) async fn run(setting: &Setting, args: cli::Keys, terminal: &mut Terminal) -> Result<Outcome> {
    // Asked before a server is started for it: a key that is not given needs none.
    let key = match &args {
        cli::Keys::Set { no_key: false, .. } => {
            let mut signals = Signals::catch()?;
            let advice =
                "copy it from the provider's console; pass `--no-key` for a provider that needs none";
            match hidden::ask("API key", advice, &mut signals).await? {
                Some(key) => Some(key),
                None => return Ok(Outcome::Interrupted),
            }
        }
        _ => None,
    };
    with_server(setting, async |client| act(client, args, key, &setting.invocation, terminal).await).await
}

async fn act(
    client: &Client,
    args: cli::Keys,
    key: Option<String>,
    invocation: &Invocation,
    terminal: &mut Terminal,
) -> Result<()> {
    match args {
        cli::Keys::List { json: true } => {
            let answer: Box<RawValue> = client.get("/api/providers").await?;
            terminal.line(answer.get())?;
        }
        cli::Keys::List { json: false } => {
            let list: ProviderList = client.get("/api/providers").await?;
            let mut table = Table::new(["PROVIDER", "KEY", "FROM", "BASE URL"]);
            for provider in &list.providers {
                table.row(row(provider));
            }
            terminal.write(&table.to_text(terminal.paint()))?;
            for provider in list.providers {
                if let Some(problem) = provider.problem {
                    eprintln!("warning: {}: {}", provider.name, clean(&problem));
                }
            }
        }
        cli::Keys::Set { provider, base_url, .. } => {
            let path = path(&provider);
            let put = ProviderPut { api_key: key, base_url };
            let set: ProviderItem = client.put(&path, &put).await?;
            terminal.line(&format!("Set {} at {}", set.name, clean(&set.base_url)))?;
            let tested: ProviderTested = client.post(&format!("{path}/test"), &()).await?;
            match tested.status {
                ProviderTestStatus::Ok => terminal.line(&clean(&tested.message))?,
                _ => eprintln!("warning: {}", told(&tested, invocation)),
            }
        }
        cli::Keys::Test { provider, json } => test(client, &provider, json, terminal).await?,
        cli::Keys::Rm { provider } => {
            client.delete(&path(&provider)).await?;
            terminal.line(&format!("Removed the stored settings of {provider}"))?;
        }
    }
    Ok(())
}

async fn test(client: &Client, provider: &str, json: bool, terminal: &mut Terminal) -> Result<()> {
    let answer: Box<RawValue> = client.post(&format!("{}/test", path(provider)), &()).await?;
    if json {
        terminal.line(answer.get())?;
        return Ok(());
    }
    let tested: ProviderTested = serde_json::from_str(answer.get())?;
    if tested.status != ProviderTestStatus::Ok {
        let hint = tested.hint.unwrap_or_else(|| "`warren keys list` shows what is set".to_owned());
        bail!(Advised::new(clean(&tested.message), clean(&hint)));
    }
    terminal.line(&clean(&tested.message))?;
    Ok(())
}

/// Runs `warren models`.
pub(crate) async fn models(setting: &Setting, args: cli::Models, terminal: &mut Terminal) -> Result<Outcome> {
    with_server(setting, async |client| list_models(client, &args, terminal).await).await
}

async fn list_models(client: &Client, args: &cli::Models, terminal: &mut Terminal) -> Result<()> {
    if args.json {
        let answer: Box<RawValue> = client.get("/api/models").await?;
        terminal.line(answer.get())?;
        return Ok(());
    }
    let list: ModelList = client.get("/api/models").await?;
    let mut table = Table::new(["MODEL", "PROVIDER", "INPUT", "OUTPUT", "CONTEXT", "AGENTS"]);
    let is_meant = |model: &&ModelItem| args.agent.as_ref().is_none_or(|agent| model.agents.contains(agent));
    for model in list.models.iter().filter(is_meant) {
        let dollars = |price: Option<f64>| price.map_or("?".to_owned(), |price| format!("${price}"));
        table.row([
            clean(&model.id),
            model.provider.clone(),
            dollars(model.price.map(|price| price.input)),
            dollars(model.price.map(|price| price.output)),
            model.context_window.map_or("?".to_owned(), |tokens| format!("{}k", tokens / 1000)),
            model.agents.join(", "),
        ]);
    }
    terminal.write(&table.to_text(terminal.paint()))?;
    for problem in list.problems {
        eprintln!("warning: {}: {}", problem.provider, clean(&problem.message));
    }
    if io::stderr().is_terminal() {
        eprintln!("Prices are US dollars for a million tokens.");
    }
    Ok(())
}

fn row(provider: &ProviderItem) -> [String; 4] {
    let key = match (&provider.key_ending, provider.has_key) {
        (Some(ending), _) => format!("…{}", clean(ending)),
        (None, true) => "set".to_owned(),
        (None, false) if provider.is_demo => "none: only the demo model answers".to_owned(),
        (None, false) => "none".to_owned(),
    };
    let from = match provider.key_source {
        Some(ProviderKeySource::Config) => "configuration".to_owned(),
        Some(ProviderKeySource::Environment) => provider.variable.clone(),
        Some(ProviderKeySource::Page) => "stored".to_owned(),
        None if provider.is_set => "stored".to_owned(),
        None => "–".to_owned(),
    };
    [provider.name.clone(), key, from, clean(&provider.base_url)]
}

fn told(tested: &ProviderTested, invocation: &Invocation) -> String {
    match &tested.hint {
        Some(hint) => format!("{}\nhint: {}", clean(&tested.message), invocation.adapt(&clean(hint))),
        None => clean(&tested.message),
    }
}

fn path(provider: &str) -> String {
    let name: String =
        provider.chars().filter(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-')).collect();
    format!("/api/providers/{name}")
}
