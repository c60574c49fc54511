//! `warren knowledge`: files that all sessions of a project can read.

use anyhow::Result;
use serde_json::value::RawValue;
use warren_wire::{KnowledgeListing, Uploaded};

use super::files::{query, table};
use crate::{
    attach::read_named,
    cli,
    client::{Client, Form},
    connect::with_server,
    invocation::Invocation,
    render::size,
    report::Outcome,
    setting::Setting,
    terminal::Terminal,
};

/// Runs the verb.
pub(crate) async fn run(setting: &Setting, args: cli::Knowledge, terminal: &mut Terminal) -> Result<Outcome> {
    with_server(setting, async |client| act(client, args, &setting.invocation, terminal).await).await
}

async fn act(
    client: &Client,
    args: cli::Knowledge,
    invocation: &Invocation,
    terminal: &mut Terminal,
) -> Result<()> {
    match args {
        cli::Knowledge::List { of, json } => {
            let answer: Box<RawValue> = client.get(&place(&of)).await?;
            if json {
                return Ok(terminal.line(answer.get())?);
            }
            let listing: KnowledgeListing = serde_json::from_str(answer.get())?;
            let (n_files, used, most) = (listing.files.len(), listing.size_bytes, listing.max_bytes);
            if n_files == 0 {
                let hint = invocation.adapt("No knowledge files yet: `warren knowledge add FILE` adds one.");
                eprintln!("{hint}");
                return Ok(());
            }
            terminal.write(&table(listing.files).to_text(terminal.paint()))?;
            let noun = if n_files == 1 { "file" } else { "files" };
            terminal.line(&format!("{n_files} {noun}, {} of {}", size(used), size(most)))?;
        }
        cli::Knowledge::Add { of, files, to, json } => {
            let files = files.iter().map(|file| read_named(file)).collect::<Result<Vec<_>>>()?;
            let path = format!("{}?path={}", place(&of), query(&to));
            let answer: Box<RawValue> = client.post_form(&path, Form::of(&files)).await?;
            if json {
                return Ok(terminal.line(answer.get())?);
            }
            let added: Uploaded = serde_json::from_str(answer.get())?;
            terminal.write(&table(added.files).to_text(terminal.paint()))?;
        }
        cli::Knowledge::Rm { of, path } => {
            client.delete(&format!("{}?path={}", place(&of), query(&path))).await?;
        }
    }
    Ok(())
}

fn place(of: &cli::OfProject) -> String {
    format!("/api/projects/{}/knowledge", query(&of.project).replace('/', "%2F"))
}
