//! `warren sessions`: what there is, and what happened.

mod log;

use anyhow::Result;
use reqwest::Url;
use serde_json::value::RawValue;
use warren_domain::{Seq, SessionId, Timestamp};
use warren_wire::{SessionListItem, SessionPage};

use crate::{
    cli,
    client::Client,
    connect::with_server,
    conversation::find,
    render::{Reader, Renderer, clean},
    report::Outcome,
    setting::Setting,
    table::Table,
    terminal::Terminal,
};

/// Runs the verb.
pub(crate) async fn run(setting: &Setting, args: cli::Sessions, terminal: &mut Terminal) -> Result<Outcome> {
    with_server(setting, async |client| act(client, args, terminal).await).await
}

async fn act(client: &Client, args: cli::Sessions, terminal: &mut Terminal) -> Result<()> {
    match args {
        cli::Sessions::List { limit, q, json } => list(client, limit, q.as_deref(), json, terminal).await,
        cli::Sessions::Show { id, json } => {
            let session = find(client, &id).await?;
            if json {
                show_json(client, session, terminal).await
            } else {
                show(client, session, terminal).await
            }
        }
        cli::Sessions::Events { id, after, follow, json } => {
            let session = find(client, &id).await?;
            let form = if json { log::Form::Json } else { log::Form::Text };
            let after = log::past(client, session, Seq(after), form, terminal).await?;
            if !follow {
                return Ok(());
            }
            log::follow(client, session, after, form, terminal).await
        }
        cli::Sessions::Rm { ids, json } => remove(client, &ids, json, terminal).await,
    }
}

async fn list(
    client: &Client,
    limit: u32,
    q: Option<&str>,
    json: bool,
    terminal: &mut Terminal,
) -> Result<()> {
    let path = list_path(limit, q);
    if json {
        let answer: Box<RawValue> = client.get(&path).await?;
        return Ok(terminal.line(answer.get())?);
    }
    let page: SessionPage = client.get(&path).await?;
    let mut table = Table::new(["SESSION", "AGENT", "STATE", "LAST ACTIVITY", "NAME"]);
    for session in &page.sessions {
        table.row([
            session.session_id.to_string(),
            session.agent_type.to_string(),
            state(session).to_owned(),
            Timestamp::from_millis(session.last_activity).to_string(),
            clean(session.name.as_deref().unwrap_or_default()),
        ]);
    }
    terminal.write(&table.to_text(terminal.paint()))?;
    if page.next_cursor.is_some() {
        eprintln!("there are more; `--limit` shows more of them, `--q` finds some by name");
    }
    Ok(())
}

fn list_path(limit: u32, q: Option<&str>) -> String {
    let mut query = format!("limit={limit}");
    // Only the part after the `?` is used: the URL is the library's way to encode a query.
    if let (Some(text), Ok(mut url)) = (q, Url::parse("http://localhost/")) {
        url.query_pairs_mut().append_pair("q", text);
        query = format!("{query}&{}", url.query().unwrap_or_default());
    }
    format!("/api/sessions?{query}")
}

/// What a session is doing, in a word.
fn state(session: &SessionListItem) -> &'static str {
    use warren_domain::SandboxStatus::{Ready, Starting, Terminated, Unhealthy};
    let sandbox = session.runtime.sandbox.as_ref().map(|sandbox| sandbox.status);
    match (session.active_run_id, sandbox) {
        (_, Some(Starting)) => "starting",
        (_, Some(Unhealthy)) => "restarting",
        (Some(_), _) => "running",
        (None, Some(Ready)) => "ready",
        (None, Some(Terminated) | None) => "idle",
    }
}

async fn show_json(client: &Client, session: SessionId, terminal: &mut Terminal) -> Result<()> {
    let answer: Box<RawValue> = client.get(&format!("/api/sessions/{session}")).await?;
    Ok(terminal.line(answer.get())?)
}

/// Shows a session by its log, as it looked when it happened.
async fn show(client: &Client, session: SessionId, terminal: &mut Terminal) -> Result<()> {
    let item: SessionListItem = client.get(&format!("/api/sessions/{session}")).await?;
    let paint = terminal.paint();
    let name = clean(item.name.as_deref().unwrap_or("(no name)"));
    let made = Timestamp::from_millis(item.created_at);
    terminal.line(&format!("{}  {session}", paint.bold(&name)))?;
    let facts = format!(
        "{}, profile {}, {}, made {made}",
        item.agent_type,
        item.agent_profile_reference,
        state(&item)
    );
    terminal.line(&paint.dim(&facts))?;
    terminal.line("")?;
    let mut renderer = Renderer::new(Reader::Other, paint);
    let mut after = Seq(0);
    loop {
        let page = client.events(session, after).await?;
        for event in &page.events {
            terminal.write(&renderer.event(event))?;
        }
        after = page.last_seq;
        if page.events.is_empty() || page.last_seq >= page.head {
            return Ok(());
        }
    }
}

async fn remove(client: &Client, ids: &[String], json: bool, terminal: &mut Terminal) -> Result<()> {
    for id in ids {
        let session = find(client, id).await?;
        client.delete(&format!("/api/sessions/{session}")).await?;
        if json {
            terminal.line(&serde_json::json!({ "removed": session }).to_string())?;
        } else {
            terminal.line(&format!("removed {session}"))?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::list_path;

    #[test]
    fn a_search_is_encoded() {
        assert_eq!(list_path(3, None), "/api/sessions?limit=3");
        assert_eq!(list_path(3, Some("a&b=é")), "/api/sessions?limit=3&q=a%26b%3D%C3%A9");
    }
}
