//! `warren artifacts`: results of a session.

use anyhow::Result;
use serde_json::{json, value::RawValue};
use warren_domain::{ArtifactId, SessionId};
use warren_wire::{ArtifactList, PreviewLink};

use crate::{
    cli,
    client::Client,
    connect::with_server,
    lookup::find,
    render::{clean, size},
    report::{Advised, Outcome},
    setting::Setting,
    table::Table,
    terminal::Terminal,
    verbs::files::print,
};

/// Runs the verb.
pub(crate) async fn run(setting: &Setting, args: cli::Artifacts, terminal: &mut Terminal) -> Result<Outcome> {
    with_server(setting, async |client| act(client, args, terminal).await).await
}

async fn act(client: &Client, args: cli::Artifacts, terminal: &mut Terminal) -> Result<()> {
    match args {
        cli::Artifacts::List { session, json } => {
            let path = format!("/api/sessions/{}/artifacts", find(client, &session).await?);
            let answer: Box<RawValue> = client.get(&path).await?;
            if json {
                terminal.line(answer.get())?;
            } else {
                let list: ArtifactList = serde_json::from_str(answer.get())?;
                if list.artifacts.is_empty() {
                    eprintln!("No artifacts yet: agents put results into `outputs/`.");
                    return Ok(());
                }
                terminal.write(&table(list)?.to_text(terminal.paint()))?;
            }
        }
        cli::Artifacts::Get { session, artifact } => {
            let session = find(client, &session).await?;
            let path = format!(
                "/api/sessions/{session}/artifacts/{}/content",
                id(client, session, &artifact).await?
            );
            print(&client.bytes(&path).await?)?;
        }
        cli::Artifacts::Open { session, artifact, json } => {
            let session = find(client, &session).await?;
            let path = format!(
                "/api/sessions/{session}/artifacts/{}/preview",
                id(client, session, &artifact).await?
            );
            let answer: Box<RawValue> = client.post(&path, &json!({})).await?;
            let link: PreviewLink = serde_json::from_str(answer.get())?;
            terminal.line(if json { answer.get() } else { &link.url })?;
        }
    }
    Ok(())
}

fn table(list: ArtifactList) -> Result<Table<6>> {
    let mut table = Table::new(["ID", "KIND", "SIZE", "VERSION", "NAME", "PATH"]);
    for artifact in list.artifacts {
        let kind = serde_json::to_value(artifact.kind)?;
        table.row([
            artifact.id.to_string(),
            kind.as_str().unwrap_or_default().to_owned(),
            size(artifact.size_bytes),
            artifact.updated_version.map(|version| format!("v{version}")).unwrap_or_default(),
            clean(&artifact.name),
            clean(&artifact.path),
        ]);
    }
    Ok(table)
}

/// An artifact by its ID, name or path.
async fn id(client: &Client, session: SessionId, text: &str) -> Result<ArtifactId> {
    if let Ok(id) = text.parse() {
        return Ok(id);
    }
    let list: ArtifactList = client.get(&format!("/api/sessions/{session}/artifacts")).await?;
    let is_meant =
        |name: &str, path: &str| name == text || path.trim_start_matches('/') == text.trim_start_matches('/');
    let mut meant = list.artifacts.iter().filter(|artifact| is_meant(&artifact.name, &artifact.path));
    let advice = format!("`warren artifacts list {session}` lists them");
    match (meant.next(), meant.next()) {
        (Some(one), None) => Ok(one.id),
        (Some(_), Some(_)) => {
            Err(Advised::new(format!("several artifacts are called `{text}`; use an ID"), advice).into())
        }
        (None, _) => {
            Err(Advised::new(format!("no artifact with the ID, name or path `{text}`"), advice).into())
        }
    }
}
