//! `warren approvals`: requests of agents, answered from anywhere.

use anyhow::Result;
use serde_json::value::RawValue;
use warren_domain::{ApprovalDecision, ApprovalId, ApprovalRule, Resolution, RuleScope};
use warren_env::Env;
use warren_wire::{ApprovalAnswer, ApprovalItem, ApprovalPage};

use crate::{
    answers, cli,
    client::Client,
    connect::with_server,
    lookup::find,
    render::clean,
    report::{Advised, Outcome},
    setting::Setting,
    table::Table,
    terminal::Terminal,
    times::relative,
};

/// Runs the verb.
pub(crate) async fn run(setting: &Setting, args: cli::Approvals, terminal: &mut Terminal) -> Result<Outcome> {
    with_server(setting, async |client| act(client, args, terminal).await).await
}

async fn act(client: &Client, args: cli::Approvals, terminal: &mut Terminal) -> Result<()> {
    match args {
        cli::Approvals::List { all, json } => list(client, all, json, terminal).await,
        cli::Approvals::Allow { id, always: false, json, .. } => {
            let answer = answers::plain(ApprovalDecision::Allow, None);
            send(client, &id, answer, json, terminal).await
        }
        cli::Approvals::Allow { id, prefix, directory, tool, json, .. } => {
            let wish = match (prefix, directory, tool) {
                (Some(words), _, _) => Some((RuleScope::Prefix, words)),
                (None, Some(directory), _) => Some((RuleScope::Directory, directory)),
                (None, None, true) => Some((RuleScope::Tool, "*".to_owned())),
                (None, None, false) => None,
            };
            let asked: ApprovalItem = client.get(&path(&id)?).await?;
            let rule = rule(&asked, wish)?;
            if let Some(rule) = &rule {
                eprintln!("Allows {} for the rest of the session.", answers::rule_text(rule));
            }
            let answer = ApprovalAnswer { rule, ..answers::plain(ApprovalDecision::AllowAlways, None) };
            send(client, &id, answer, json, terminal).await
        }
        cli::Approvals::Rules { session, json } => rules(client, session.as_deref(), json, terminal).await,
        cli::Approvals::Revoke { id } => Ok(client.delete(&format!("{}/rule", path(&id)?)).await?),
        cli::Approvals::Deny { id, message, json } => {
            let answer = answers::plain(ApprovalDecision::Deny, message);
            send(client, &id, answer, json, terminal).await
        }
        cli::Approvals::Answer { id, answer, json } => {
            let asked: ApprovalItem = client.get(&path(&id)?).await?;
            let advice = "write the number of an option or text for each question, separated by `;`";
            let answer = answers::answer(&asked.request, &answer)
                .ok_or_else(|| Advised::new(format!("`{answer}` does not answer the question"), advice))?;
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
        eprintln!("{}", if all { "No requests yet." } else { "No pending requests." });
        return Ok(());
    }
    let now = Env::system().now();
    let mut table = Table::new(["ID", "SESSION", "REQUEST", "STATUS", "EXPIRES"]);
    for approval in page.approvals {
        let status = serde_json::to_value(approval.status)?;
        table.row([
            approval.request.approval_id.to_string(),
            approval.session_id.to_string(),
            clean(&approval.request.title),
            status.as_str().unwrap_or_default().to_owned(),
            relative(approval.request.expires_at, now),
        ]);
    }
    Ok(terminal.write(&table.to_text(terminal.paint()))?)
}

/// The rule to grant: what was wished for, of the tool that is asked about.
fn rule(asked: &ApprovalItem, wish: Option<(RuleScope, String)>) -> Result<Option<ApprovalRule>> {
    let Some((scope, pattern)) = wish else { return Ok(asked.request.rules.first().cloned()) };
    let advice = "leave the rule out: `warren approvals allow ID --always` allows the same request";
    let tool = asked.request.detail["toolName"].as_str();
    let tool = tool.ok_or_else(|| Advised::new("no rule can cover this request".to_owned(), advice))?;
    Ok(Some(ApprovalRule { tool: tool.to_owned(), scope, pattern }))
}

async fn rules(client: &Client, session: Option<&str>, json: bool, terminal: &mut Terminal) -> Result<()> {
    let of_session = match session {
        Some(named) => format!("&sessionId={}", find(client, named).await?),
        None => String::new(),
    };
    let page: ApprovalPage =
        client.get(&format!("/api/approvals?status=resolved&limit=500{of_session}")).await?;
    let granted = page.approvals.into_iter().filter_map(|approval| {
        let outcome = approval.resolution.clone()?;
        let rule = outcome.rule.filter(|_| outcome.decision == Resolution::AllowAlways)?;
        Some((approval, rule, outcome.by))
    });
    let granted: Vec<_> = granted.collect();
    if json {
        let all: Vec<_> = granted.iter().map(|(approval, ..)| approval).collect();
        return Ok(terminal.line(&serde_json::to_string(&all)?)?);
    }
    if granted.is_empty() {
        eprintln!("No active rules: every request needs an answer.");
        return Ok(());
    }
    let mut table = Table::new(["ID", "SESSION", "ALLOWS", "BY"]);
    for (approval, rule, by) in granted {
        table.row([
            approval.request.approval_id.to_string(),
            approval.session_id.to_string(),
            answers::rule_text(&rule),
            clean(&by),
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
    let advice = "`warren approvals list` lists requests";
    let id: ApprovalId =
        id.parse().map_err(|_| Advised::new(format!("no request with the ID `{id}`"), advice))?;
    Ok(format!("/api/approvals/{id}"))
}
