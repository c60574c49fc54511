//! Approvals.

use warren_domain::{ApprovalDecision, ApprovalId, ApprovalResolution, SessionId};
use warren_runtime::api::{ApprovalQuery, Pending};
use warren_wire::{ApprovalAnswer, ApprovalPage};

use super::sessions::{limit, project};
use crate::{
    choke::Call,
    convert,
    failure::Failure,
    respond::{self, Answer},
};

/// Approvals in one part of a list, unless the client says otherwise.
const DEFAULT_LIMIT: u64 = 50;

pub(crate) async fn list(call: Call) -> Answer {
    let now = call.app().now();
    let query = ApprovalQuery {
        partition: Some(call.identity()?.partition.clone()),
        project: project(&call).await?,
        session: call.query().id("sessionId").map(SessionId),
        pending: match call.query().text("status") {
            Some("pending") => Some((Pending::Yes, now)),
            Some("resolved") => Some((Pending::No, now)),
            _ => None,
        },
        before: call.query().text("cursor").map(cursor).transpose()?,
        limit: limit(&call, DEFAULT_LIMIT),
    };
    let page = call.runtime().approvals().approval_list(query).await?;
    let last = page.items.last().map(|approval| approval.request.approval_id.to_string());
    respond::ok(&ApprovalPage {
        next_cursor: last.filter(|_| page.more),
        approvals: page.items.into_iter().map(|approval| convert::approval(approval, now)).collect(),
    })
}

pub(crate) async fn get(call: Call) -> Answer {
    let approval = call.runtime().approvals().approval_get(call.approval()?).await?;
    respond::ok(&convert::approval(approval, call.app().now()))
}

pub(crate) async fn answer(call: Call) -> Answer {
    let ApprovalAnswer { decision, message, answers, rule } = call.json()?;
    if rule.is_some() && decision != ApprovalDecision::AllowAlways {
        return Err(Failure::bad_request("only `allow_always` grants a rule")
            .hint("leave `rule` out, or answer `allow_always`"));
    }
    let resolution = ApprovalResolution {
        approval_id: call.approval()?,
        decision: decision.into(),
        by: call.identity()?.name.clone(),
        message,
        answers,
        rule,
    };
    let approval = call.runtime().approvals().approval_resolve(resolution).await?;
    respond::ok(&convert::approval(approval, call.app().now()))
}

pub(crate) async fn withdraw_rule(call: Call) -> Answer {
    let by = call.identity()?.name.clone();
    let approval = call.runtime().approvals().approval_rule_withdraw(call.approval()?, by).await?;
    respond::ok(&convert::approval(approval, call.app().now()))
}

fn cursor(text: &str) -> Result<ApprovalId, Failure> {
    text.parse().map_err(|_| {
        Failure::bad_request("`cursor` is not valid")
            .hint("pass the `nextCursor` of an earlier response unchanged")
    })
}
