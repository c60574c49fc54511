//! `warren config`: show and check the configuration.

use anyhow::Result;
use serde_json::{Map, Value, json};
use warren_config::{Loaded, show};

use crate::{answerers::answerers, cli, report::Outcome, setting::Setting, terminal::Terminal};

/// Runs the verb.
pub(crate) fn run(setting: &Setting, args: &cli::Config, terminal: &mut Terminal) -> Result<Outcome> {
    let loaded = setting.load()?;
    for variable in &loaded.unknown_variables {
        eprintln!("warning: unknown environment variable `{variable}`");
    }
    match args {
        cli::Config::Show { json: true } => terminal.line(&as_json(setting, &loaded).to_string())?,
        cli::Config::Show { json: false } => terminal.write(&as_text(setting, &loaded, terminal))?,
        cli::Config::Check => {
            let set = match loaded.origins.len() {
                0 => "no keys set".to_owned(),
                1 => "1 key set".to_owned(),
                n => format!("{n} keys set"),
            };
            terminal.line(&format!("Configuration OK ({set})"))?
        }
    }
    Ok(Outcome::Done)
}

fn as_text(setting: &Setting, loaded: &Loaded, terminal: &Terminal) -> String {
    let paint = terminal.paint();
    let mut text = paint.dim(&format!("# data directory: {}", setting.home.directory().display()));
    text.push('\n');
    for (key, value) in show(&loaded.config) {
        let line = match (loaded.origins.get(key), value.as_str()) {
            (_, "") => paint.dim(&format!("# {key} is not set")),
            (Some(origin), value) => format!("{key} = {value}  {}", paint.dim(&format!("# {origin}"))),
            (None, value) => format!("{key} = {value}"),
        };
        text.push_str(&line);
        text.push('\n');
    }
    for answerer in answerers(&loaded.config) {
        text.push_str(&paint.dim(&format!("# the key for {}: {}", answerer.provider, answerer.key)));
        text.push('\n');
    }
    text
}

fn as_json(setting: &Setting, loaded: &Loaded) -> Value {
    let keys: Map<String, Value> = show(&loaded.config)
        .into_iter()
        .map(|(key, value)| {
            let origin = loaded.origins.get(key).map_or("default".to_owned(), ToString::to_string);
            (key.to_owned(), json!({ "value": value, "origin": origin }))
        })
        .collect();
    let found: Map<String, Value> =
        answerers(&loaded.config).into_iter().map(|it| (it.provider.to_owned(), json!(it.key))).collect();
    json!({
        "dataDirectory": setting.home.directory(),
        "keys": keys,
        "modelKeys": found,
        "unknownVariables": loaded.unknown_variables,
    })
}
