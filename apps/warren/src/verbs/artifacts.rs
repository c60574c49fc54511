//! `warren artifacts`: what a session made.

use anyhow::Result;
use serde_json::{json, value::RawValue};
use warren_domain::ArtifactId;
use warren_wire::{ArtifactList, PreviewLink};

use crate::{
    cli,
    client::Client,
    connect::with_server,
    conversation::find,
    render::clean,
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
                terminal.write(&table(list)?.to_text(terminal.paint()))?;
            }
        }
        cli::Artifacts::Get { session, artifact } => {
            let session = find(client, &session).await?;
            let path = format!("/api/sessions/{session}/artifacts/{}/content", id(&artifact)?);
            print(&client.bytes(&path).await?)?;
        }
        cli::Artifacts::Open { session, artifact, json } => {
            let session = find(client, &session).await?;
            let path = format!("/api/sessions/{session}/artifacts/{}/preview", id(&artifact)?);
            let answer: Box<RawValue> = client.post(&path, &json!({})).await?;
            let link: PreviewLink = serde_json::from_str(answer.get())?;
            terminal.line(if json { answer.get() } else { &link.url })?;
        }
    }
    Ok(())
}

fn table(list: ArtifactList) -> Result<Table<6>> {
    let mut table = Table::new(["ID", "KIND", "BYTES", "VERSION", "NAME", "PATH"]);
    for artifact in list.artifacts {
        let kind = serde_json::to_value(artifact.kind)?;
        table.row([
            artifact.id.to_string(),
            kind.as_str().unwrap_or_default().to_owned(),
            artifact.size_bytes.to_string(),
            artifact.updated_version.map(|version| format!("v{version}")).unwrap_or_default(),
            clean(&artifact.name),
            clean(&artifact.path),
        ]);
    }
    Ok(table)
}

fn id(text: &str) -> Result<ArtifactId> {
    let advice = "`warren artifacts list SESSION` shows the ids";
    text.parse().map_err(|_| Advised::new(format!("`{text}` is not an artifact's id"), advice).into())
}
