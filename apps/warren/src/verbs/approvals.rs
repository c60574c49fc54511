//! `warren approvals`: what agents ask people, answered from anywhere.

use anyhow::Result;
use serde_json::value::RawValue;
use warren_domain::{ApprovalDecision, ApprovalId};
use warren_wire::{ApprovalAnswer, ApprovalItem, ApprovalPage};

use crate::{
    answers, cli,
    client::Client,
    connect::with_server,
    render::clean,
    report::{Advised, Outcome},
    setting::Setting,
    table::Table,
    terminal::Terminal,
};

/// Runs the verb.
pub(crate) async fn run(setting: &Setting, args: cli::Approvals, terminal: &mut Terminal) -> Result<Outcome> {
    with_server(setting, async |client| act(client, args, terminal).await).await
}

async fn act(client: &Client, args: cli::Approvals, terminal: &mut Terminal) -> Result<()> {
    match args {
        cli::Approvals::List { all, json } => list(client, all, json, terminal).await,
        cli::Approvals::Allow { id, always, json } => {
            let decision = if always { ApprovalDecision::AllowAlways } else { ApprovalDecision::Allow };
            send(client, &id, ApprovalAnswer { decision, message: None, answers: None }, json, terminal).await
        }
        cli::Approvals::Deny { id, message, json } => {
            let answer = ApprovalAnswer { decision: ApprovalDecision::Deny, message, answers: None };
            send(client, &id, answer, json, terminal).await
        }
        cli::Approvals::Answer { id, answer, json } => {
            let asked: ApprovalItem = client.get(&path(&id)?).await?;
            let advice = "give the number of an option or a text for each question, with `;` between them";
            let answer = answers::answer(&asked.request, &answer)
                .ok_or_else(|| Advised::new(format!("`{answer}` is no answer to this"), advice))?;
            send(client, &id, answer, json, terminal).await
        }
    }
}

async fn list(client: &Client, all: bool, json: bool, terminal: &mut Terminal) -> Result<()> {
    let path = if all { "/api/approvals?limit=500" } else { "/api/approvals?status=pending&limit=500" };
    let answer: Box<RawValue> = client.get(path).await?;
    if json {
        return Ok(terminal.line(answer.get())?);
    }
    let page: ApprovalPage = serde_json::from_str(answer.get())?;
    if page.approvals.is_empty() {
        eprintln!("{}", if all { "No agent ever asked anything." } else { "No agent waits for an answer." });
        return Ok(());
    }
    let mut table = Table::new(["ID", "SESSION", "ASKS", "STATUS", "EXPIRES"]);
    for approval in page.approvals {
        let status = serde_json::to_value(approval.status)?;
        table.row([
            approval.request.approval_id.to_string(),
            approval.session_id.to_string(),
            clean(&approval.request.title),
            status.as_str().unwrap_or_default().to_owned(),
            approval.request.expires_at.to_string(),
        ]);
    }
    Ok(terminal.write(&table.to_text(terminal.paint()))?)
}

async fn send(
    client: &Client,
    id: &str,
    answer: ApprovalAnswer,
    json: bool,
    terminal: &mut Terminal,
) -> Result<()> {
    let answered: Box<RawValue> = client.post(&path(id)?, &answer).await?;
    if json {
        terminal.line(answered.get())?;
    }
    Ok(())
}

fn path(id: &str) -> Result<String> {
    let advice = "`warren approvals list` shows the ids";
    let id: ApprovalId =
        id.parse().map_err(|_| Advised::new(format!("`{id}` is not an approval's id"), advice))?;
    Ok(format!("/api/approvals/{id}"))
}
