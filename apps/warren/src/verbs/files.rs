//! `warren files`: what a session has on disk.

use std::io::{Read as _, Write as _};

use anyhow::{Context as _, Result};
use serde_json::value::RawValue;
use warren_domain::SessionId;
use warren_wire::{FileItem, FileListing};

use crate::{
    cli,
    client::Client,
    connect::with_server,
    render::clean,
    report::{Advised, Outcome},
    setting::Setting,
    table::Table,
    terminal::{OutputError, Terminal},
};

/// Runs the verb.
pub(crate) async fn run(setting: &Setting, args: cli::Files, terminal: &mut Terminal) -> Result<Outcome> {
    with_server(setting, async |client| act(client, args, terminal).await).await
}

async fn act(client: &Client, args: cli::Files, terminal: &mut Terminal) -> Result<()> {
    match args {
        cli::Files::List { session, path, json } => {
            let place =
                format!("/api/sessions/{}/fs?path={}", session_of(client, &session).await?, query(&path));
            let answer: Box<RawValue> = client.get(&place).await?;
            if json {
                terminal.line(answer.get())?;
            } else {
                let listing: FileListing = serde_json::from_str(answer.get())?;
                terminal.write(&table(listing.entries).to_text(terminal.paint()))?;
            }
        }
        cli::Files::Get { session, path } => {
            let session = session_of(client, &session).await?;
            print(&client.bytes(&format!("/api/sessions/{session}/fs/read?path={}", query(&path))).await?)?;
        }
        cli::Files::Put { session, path, json } => {
            let mut content = Vec::new();
            std::io::stdin().read_to_end(&mut content).context("failed to read standard input")?;
            let place =
                format!("/api/sessions/{}/fs?path={}", session_of(client, &session).await?, query(&path));
            let answer: Box<RawValue> = client.put_bytes(&place, content).await?;
            if json {
                terminal.line(answer.get())?;
            }
        }
        cli::Files::Rm { session, path } => {
            let session = session_of(client, &session).await?;
            client.delete(&format!("/api/sessions/{session}/fs?path={}", query(&path))).await?;
        }
    }
    Ok(())
}

pub(super) fn table(entries: Vec<FileItem>) -> Table<4> {
    let mut table = Table::new(["KIND", "BYTES", "CHANGED", "PATH"]);
    for entry in entries {
        table.row([
            entry.kind,
            entry.size_bytes.to_string(),
            entry.modified_at.to_string(),
            clean(&entry.path),
        ]);
    }
    table
}

/// The session of an id, or the newest one.
pub(crate) async fn session_of(client: &Client, text: &str) -> Result<SessionId> {
    let advice = "`warren sessions list` shows the ids";
    if text != "last" {
        return text
            .parse()
            .map_err(|_| Advised::new(format!("`{text}` is not a session's id"), advice).into());
    }
    let newest = client.session_newest().await?;
    newest
        .map(|session| session.session_id)
        .ok_or_else(|| Advised::new("there is no session yet", advice).into())
}

/// A text as a query has it.
pub(super) fn query(text: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~' | b'/');
    text.bytes()
        .map(|byte| if plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") })
        .collect()
}

/// Bytes as they are, to standard output.
pub(crate) fn print(bytes: &[u8]) -> Result<(), OutputError> {
    Ok(std::io::stdout().write_all(bytes)?)
}
