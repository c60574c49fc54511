//! `warren tokens`: what clients show to the server.

use anyhow::Result;
use serde_json::value::RawValue;
use warren_domain::Timestamp;
use warren_wire::{TokenCreate, TokenCreated, TokenList};

use crate::{
    cli,
    client::Client,
    connect::with_server,
    render::clean,
    report::{Advised, Outcome},
    setting::Setting,
    table::Table,
    terminal::Terminal,
};

/// Runs the verb.
pub(crate) async fn run(setting: &Setting, args: cli::Tokens, terminal: &mut Terminal) -> Result<Outcome> {
    with_server(setting, async |client| act(client, args, terminal).await).await
}

async fn act(client: &Client, args: cli::Tokens, terminal: &mut Terminal) -> Result<()> {
    match args {
        cli::Tokens::List { json: true } => {
            let answer: Box<RawValue> = client.get("/api/tokens").await?;
            terminal.line(answer.get())?;
        }
        cli::Tokens::List { json: false } => {
            let list: TokenList = client.get("/api/tokens").await?;
            let mut table = Table::new(["ID", "NAME", "SCOPE", "CREATED", "EXPIRES"]);
            for token in list.tokens {
                let expires = token.expires_at.map_or("never".to_owned(), |at| at.to_string());
                table.row([
                    token.token_id.to_string(),
                    clean(&token.name),
                    token.scope,
                    token.created_at.to_string(),
                    expires,
                ]);
            }
            terminal.write(&table.to_text(terminal.paint()))?;
        }
        cli::Tokens::Create { name, scope, expires_at, owner, plan, json } => {
            let expires_at = expires_at.as_deref().map(time).transpose()?;
            let new = TokenCreate { name, scope, expires_at, owner, plan };
            let answer: Box<RawValue> = client.post("/api/tokens", &new).await?;
            if json {
                terminal.line(answer.get())?;
            } else {
                let created: TokenCreated = serde_json::from_str(answer.get())?;
                terminal.line(&created.secret)?;
                eprintln!(
                    "This is the token `{}`. It is not kept and cannot be shown again.",
                    created.token.token_id
                );
            }
        }
        cli::Tokens::Rm { id } => client.delete(&format!("/api/tokens/{}", segment(&id)?)).await?,
    }
    Ok(())
}

fn time(text: &str) -> Result<Timestamp> {
    let advice = "write it as 2027-01-31T00:00:00Z";
    Timestamp::parse(text).ok_or_else(|| Advised::new(format!("`{text}` is not a time"), advice).into())
}

/// An id that may stand in a path.
fn segment(id: &str) -> Result<warren_domain::TokenId> {
    let advice = "`warren tokens list` shows the ids";
    id.parse().map_err(|_| Advised::new(format!("`{id}` is not a token's id"), advice).into())
}
