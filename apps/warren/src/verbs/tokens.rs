//! `warren tokens`: API tokens.

use std::time::Duration;

use anyhow::Result;
use serde_json::value::RawValue;
use warren_domain::TokenId;
use warren_env::Env;
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
    times::{Lifetime, relative},
};

/// Permissions of a token unless others are asked for: it can read, and no more.
const SCOPE: &str = "admin:ro";
const LIFETIME: Lifetime = Lifetime::For(Duration::from_secs(30 * 24 * 60 * 60));

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
            let now = Env::system().now();
            let mut table = Table::new(["ID", "NAME", "SCOPE", "CREATED", "EXPIRES"]);
            for token in list.tokens {
                let expires = token.expires_at.map_or("never".to_owned(), |at| relative(at, now));
                table.row([
                    token.token_id.to_string(),
                    clean(&token.name),
                    token.scope,
                    relative(token.created_at, now),
                    expires,
                ]);
            }
            terminal.write(&table.to_text(terminal.paint()))?;
        }
        cli::Tokens::Create { name, scope, admin, expires, owner, plan, json } => {
            let scope = scope.unwrap_or_else(|| if admin { "admin" } else { SCOPE }.to_owned());
            let expires_at = expires.unwrap_or(LIFETIME).ends(Env::system().now());
            let new = TokenCreate { name, scope, expires_at, owner, plan };
            let answer: Box<RawValue> = client.post("/api/tokens", &new).await?;
            if json {
                terminal.line(answer.get())?;
            } else {
                let created: TokenCreated = serde_json::from_str(answer.get())?;
                terminal.line(&created.secret)?;
                let token = created.token;
                let expires = token.expires_at.map_or("never".to_owned(), |at| at.to_string());
                eprintln!("Token {}: scope {}, expires {expires}.", token.token_id, token.scope);
                eprintln!("Save it now: it cannot be shown again.");
            }
        }
        cli::Tokens::Rm { id } => {
            let id = find(client, &id).await?;
            client.delete(&format!("/api/tokens/{id}")).await?;
            terminal.line(&format!("Revoked {id}"))?;
        }
    }
    Ok(())
}

/// A token by its ID or its name, if only one has it.
async fn find(client: &Client, named: &str) -> Result<TokenId> {
    if let Ok(id) = named.parse() {
        return Ok(id);
    }
    let list: TokenList = client.get("/api/tokens").await?;
    let mut meant = list.tokens.iter().filter(|token| token.name == named);
    let advice = "`warren tokens list` lists tokens";
    match (meant.next(), meant.next()) {
        (Some(one), None) => Ok(one.token_id),
        (Some(_), Some(_)) => {
            Err(Advised::new(format!("several tokens are called `{named}`; use an ID"), advice).into())
        }
        (None, _) => Err(Advised::new(format!("no token with the ID or name `{named}`"), advice).into()),
    }
}
