//! `warren sessions`: list, show, rename and delete.

mod log;

use anyhow::Result;
use serde_json::value::RawValue;
use warren_domain::{Seq, SessionId, Timestamp};
use warren_env::Env;
use warren_wire::{SessionListItem, SessionPage, SessionPatch};

use crate::{
    cli,
    client::Client,
    confirm::confirm,
    connect::with_server,
    lookup::{find, list_path},
    render::{Look, Reader, Renderer, clean},
    report::Outcome,
    setting::Setting,
    table::Table,
    terminal::Terminal,
    times::relative,
};

/// Runs the verb.
pub(crate) async fn run(setting: &Setting, args: cli::Sessions, terminal: &mut Terminal) -> Result<Outcome> {
    with_server(setting, async |client| act(setting, client, args, terminal).await).await
}

async fn act(setting: &Setting, client: &Client, args: cli::Sessions, terminal: &mut Terminal) -> Result<()> {
    match args {
        cli::Sessions::List { limit, q, json } => {
            list(setting, client, &list_path(limit, q.as_deref(), None), json, terminal).await
        }
        cli::Sessions::Show { id, json } => {
            let session = find(client, &id).await?;
            if json {
                show_json(client, session, terminal).await
            } else {
                show(setting, client, session, terminal).await
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
        cli::Sessions::Rename { session, name } => {
            let session = find(client, &session).await?;
            let patch = SessionPatch { name: Some(name), ..SessionPatch::default() };
            let renamed: SessionListItem = client.patch(&format!("/api/sessions/{session}"), &patch).await?;
            Ok(terminal
                .line(&format!("Renamed to {}", clean(renamed.name.as_deref().unwrap_or_default())))?)
        }
        cli::Sessions::Rm { ids, yes, json } => remove(client, &ids, yes, json, terminal).await,
    }
}

async fn list(
    setting: &Setting,
    client: &Client,
    path: &str,
    json: bool,
    terminal: &mut Terminal,
) -> Result<()> {
    if json {
        let answer: Box<RawValue> = client.get(path).await?;
        return Ok(terminal.line(answer.get())?);
    }
    let page: SessionPage = client.get(path).await?;
    if page.sessions.is_empty() {
        let is_search = path.contains("&q=");
        let advice = setting.invocation.command(&["chat"]);
        eprintln!(
            "{}",
            if is_search {
                "No session matches.".to_owned()
            } else {
                format!("No sessions yet. Start one: {advice}")
            }
        );
        return Ok(());
    }
    let now = Env::system().now();
    let mut table = Table::new(["SESSION", "AGENT", "STATE", "LAST ACTIVITY", "NAME"]);
    for session in &page.sessions {
        table.row([
            session.session_id.to_string(),
            session.agent_type.to_string(),
            state(session).to_owned(),
            relative(Timestamp::from_millis(session.last_activity), now),
            clean(session.name.as_deref().unwrap_or_default()),
        ]);
    }
    terminal.write(&table.to_text(terminal.paint()))?;
    if page.next_cursor.is_some() {
        eprintln!("There are more sessions: raise `--limit`, or search names with `--q`.");
    }
    Ok(())
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
async fn show(setting: &Setting, client: &Client, session: SessionId, terminal: &mut Terminal) -> Result<()> {
    let item: SessionListItem = client.get(&format!("/api/sessions/{session}?limit=1")).await?;
    let paint = terminal.paint();
    let name = clean(item.name.as_deref().unwrap_or("(no name)"));
    let created = relative(Timestamp::from_millis(item.created_at), Env::system().now());
    terminal.line(&format!("{}  {session}", paint.bold(&name)))?;
    let facts = format!(
        "{}, profile {}, {}, created {created}",
        item.agent_type,
        item.agent_profile_reference,
        state(&item)
    );
    terminal.line(&paint.dim(&facts))?;
    terminal.line("")?;
    let mut renderer = Renderer::new(Look {
        reader: Reader::Other,
        paint,
        width: terminal.width(),
        invocation: setting.invocation.clone(),
        shows_answers: true,
    });
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

/// Deletes sessions, all of which are found first: a misspelt name deletes nothing.
async fn remove(
    client: &Client,
    ids: &[String],
    is_confirmed: bool,
    json: bool,
    terminal: &mut Terminal,
) -> Result<()> {
    let mut sessions = Vec::new();
    for id in ids {
        let session = find(client, id).await?;
        if !sessions.contains(&session) {
            sessions.push(session);
        }
    }
    let question = match sessions.as_slice() {
        [one] => format!("Delete {}, with its files and versions?", described(client, *one).await?),
        several => format!("Delete {} sessions, with their files and versions?", several.len()),
    };
    if !confirm(&question, is_confirmed).await? {
        eprintln!("Nothing was deleted.");
        return Ok(());
    }
    for session in sessions {
        client.delete(&format!("/api/sessions/{session}")).await?;
        if json {
            terminal.line(&serde_json::json!({ "removed": session }).to_string())?;
        } else {
            terminal.line(&format!("Deleted {session}"))?;
        }
    }
    Ok(())
}

async fn described(client: &Client, session: SessionId) -> Result<String> {
    let item: SessionListItem = client.get(&format!("/api/sessions/{session}?limit=1")).await?;
    Ok(match item.name {
        Some(name) => format!("session `{}` ({session})", clean(&name)),
        None => format!("session {session}"),
    })
}
