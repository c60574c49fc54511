//! `warren files`: files of a session.

mod convert;

use std::io::{Read as _, Write as _};

use anyhow::{Context as _, Result};
use serde_json::value::RawValue;
use warren_env::Env;
use warren_wire::{FileItem, FileListing, FileMove};

use super::versions;
use crate::{
    cli,
    client::Client,
    connect::with_server,
    lookup::find,
    render::{one_line, size},
    report::Outcome,
    setting::Setting,
    table::Table,
    terminal::{OutputError, Terminal},
    times::relative,
};

/// Runs the verb.
pub(crate) async fn run(setting: &Setting, args: cli::Files, terminal: &mut Terminal) -> Result<Outcome> {
    with_server(setting, async |client| act(client, args, terminal).await).await
}

pub(super) async fn act(client: &Client, args: cli::Files, terminal: &mut Terminal) -> Result<()> {
    match args {
        cli::Files::List { session, path, json } => {
            let place = format!("/api/sessions/{}/fs?path={}", find(client, &session).await?, query(&path));
            let answer: Box<RawValue> = client.get(&place).await?;
            if json {
                terminal.line(answer.get())?;
            } else {
                let listing: FileListing = serde_json::from_str(answer.get())?;
                if listing.entries.is_empty() {
                    eprintln!("The directory is empty.");
                    return Ok(());
                }
                terminal.write(&table(listing.entries).to_text(terminal.paint()))?;
            }
        }
        cli::Files::Get { session, path } => {
            let session = find(client, &session).await?;
            print(&client.bytes(&format!("/api/sessions/{session}/fs/read?path={}", query(&path))).await?)?;
        }
        cli::Files::Convert { session, path, to, version, output } => {
            let session = find(client, &session).await?;
            let version = version.as_deref().map(versions::version).transpose()?;
            let version = version.map(|version| format!("&version={}", version.0)).unwrap_or_default();
            let place = format!("/api/sessions/{session}/fs/convert?path={}&to={to}{version}", query(&path));
            let (pdf, converter) = client.converted(&place).await?;
            convert::save(&path, output.as_deref(), &pdf, &converter)?;
        }
        cli::Files::Put { session, path, json } => {
            let mut content = Vec::new();
            std::io::stdin().read_to_end(&mut content).context("failed to read standard input")?;
            let place = format!("/api/sessions/{}/fs?path={}", find(client, &session).await?, query(&path));
            let answer: Box<RawValue> = client.put_bytes(&place, content).await?;
            if json {
                terminal.line(answer.get())?;
            }
        }
        cli::Files::Rm { session, path } => {
            let session = find(client, &session).await?;
            client.delete(&format!("/api/sessions/{session}/fs?path={}", query(&path))).await?;
        }
        cli::Files::Mv { session, from, to, json } => {
            let place = format!("/api/sessions/{}/fs/move", find(client, &session).await?);
            let answer: Box<RawValue> = client.post(&place, &FileMove { from, to }).await?;
            if json {
                terminal.line(answer.get())?;
            }
        }
        cli::Files::Mkdir { session, path, json } => {
            let place =
                format!("/api/sessions/{}/fs/mkdir?path={}", find(client, &session).await?, query(&path));
            let answer: Box<RawValue> = client.post(&place, &serde_json::json!({})).await?;
            if json {
                terminal.line(answer.get())?;
            }
        }
    }
    Ok(())
}

pub(super) fn table(entries: Vec<FileItem>) -> Table<4> {
    let now = Env::system().now();
    let mut table = Table::new(["KIND", "SIZE", "CHANGED", "PATH"]);
    for entry in entries {
        table.row([
            entry.kind,
            size(entry.size_bytes),
            relative(entry.modified_at, now),
            one_line(&entry.path),
        ]);
    }
    table
}

/// A text, encoded for a query.
pub(crate) fn query(text: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~' | b'/');
    text.bytes()
        .map(|byte| if plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") })
        .collect()
}

/// Bytes as they are, to standard output.
pub(crate) fn print(bytes: &[u8]) -> Result<(), OutputError> {
    Ok(std::io::stdout().write_all(bytes)?)
}
