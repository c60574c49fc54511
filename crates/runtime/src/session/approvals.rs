//! Approvals: requests of agents and answers of people.

use tokio::time::Instant;
use warren_agents::{Answer, Ask};
use warren_domain::{
    ApprovalDecision, ApprovalId, ApprovalRequest, ApprovalResolution, ApprovalRule, Command, Draft,
    EventBody, OpenApproval, Rejection, RunId, matter,
};
use warren_store::{ApprovalRecord, Change};

use super::{SessionTask, requests::Failure};
use crate::{api::SessionError, recorder::RecordError};

/// A pending request of the running agent.
#[derive(Debug, Clone)]
pub(super) struct Waiting {
    pub(super) approval: ApprovalId,
    /// The agent's own name for it.
    key: String,
    pub(super) expires_at: Instant,
}

impl SessionTask {
    /// The agent waits for a person. If an earlier run that was cut asked the same, its question or its answer counts; so
    /// does a rule that an answer granted. Rules are kept and applied here, for all agents: none is told more than a yes.
    pub(super) async fn on_asked(&mut self, ask: Ask) -> Result<(), RecordError> {
        let Some(run) = &self.run else { return Ok(()) };
        let run_id = run.record.run_id;
        let earlier = self.recorder.state.approvals.iter().find(|open| is_same(open, &ask, run_id)).cloned();
        let (approval, kept) = match earlier {
            Some(OpenApproval { request, answer: None, .. }) => (request.approval_id, None),
            other => {
                let request = self.new_approval(&ask);
                let id = request.approval_id;
                self.record_asked(request).await?;
                let mut grants = self.recorder.state.grants.iter();
                let grant = grants.find(|grant| grant.covers(ask.kind, &ask.detail));
                let allowed = grant.map(|grant| ApprovalResolution::by_rule(id, grant.rule.clone()));
                (id, other.and_then(|open| open.answer).or(allowed))
            }
        };
        let waiting =
            Waiting { approval, key: ask.key, expires_at: Instant::now() + self.shared.options.approvals };
        if let Some(run) = &mut self.run {
            run.asked.push(waiting);
        }
        match kept {
            Some(answer) => self.settle(ApprovalResolution { approval_id: approval, ..answer }).await,
            None => Ok(()),
        }
    }

    fn new_approval(&self, ask: &Ask) -> ApprovalRequest {
        let env = &self.shared.parts.env;
        let patience = i64::try_from(self.shared.options.approvals.as_millis()).unwrap_or(i64::MAX);
        ApprovalRequest {
            approval_id: ApprovalId(env.uuid()),
            kind: ask.kind,
            tool_use_id: ask.tool_use_id.clone(),
            title: ask.title.clone(),
            detail: ask.detail.clone(),
            options: ask.options.clone(),
            rules: match ask.options.contains(&ApprovalDecision::AllowAlways) {
                true => ApprovalRule::choices(&ask.detail),
                false => Vec::new(),
            },
            expires_at: env.now().plus_millis(patience),
        }
    }

    async fn record_asked(&mut self, request: ApprovalRequest) -> Result<(), RecordError> {
        let session_id = self.identity.session;
        self.recorder
            .carry_out(Command::Ask(request.clone()), |events| {
                let record = |event: &warren_domain::Event| ApprovalRecord {
                    session_id,
                    run_id: event.run_id,
                    request: request.clone(),
                    requested_at: event.timestamp,
                    resolution: None,
                };
                events.iter().map(|event| Change::PutApproval(Box::new(record(event)))).collect()
            })
            .await?;
        Ok(())
    }

    /// The agent does not wait any more, though nobody answered.
    pub(super) async fn on_withdrawn(&mut self, key: &str) -> Result<(), RecordError> {
        let Some(run) = &self.run else { return Ok(()) };
        match run.asked.iter().find(|waiting| waiting.key == key).map(|waiting| waiting.approval) {
            Some(approval) => self.settle(ApprovalResolution::expired(approval, "agent")).await,
            None => Ok(()),
        }
    }

    /// Nobody answered in time: the agent is told no.
    pub(super) async fn expire_approvals(&mut self) -> Result<(), RecordError> {
        let now = Instant::now();
        let Some(run) = &self.run else { return Ok(()) };
        let late = run.asked.iter().filter(|waiting| waiting.expires_at <= now);
        for approval in late.map(|waiting| waiting.approval).collect::<Vec<_>>() {
            self.settle(ApprovalResolution::expired(approval, "time")).await?;
        }
        Ok(())
    }

    /// A person answered.
    pub(super) async fn on_resolve(&mut self, resolution: ApprovalResolution) -> Result<(), Failure> {
        let id = resolution.approval_id;
        let found = self.shared.parts.store.approvals.approval(id).await;
        let found =
            found.map_err(|error| Failure::Refused(SessionError::internal("read the approval", error)))?;
        let record = found.ok_or_else(|| Failure::Refused(SessionError::not_found("approval", id)))?;
        match &record.resolution {
            // The same answer again is no second answer.
            Some((earlier, _)) if earlier.decision == resolution.decision => Ok(()),
            Some(_) => Err(Failure::Refused(Rejection::NotPending(id).into())),
            None if record.request.expires_at <= self.shared.parts.env.now() => {
                Err(Failure::Refused(Rejection::NotPending(id).into()))
            }
            None => Ok(self.settle(resolution).await?),
        }
    }

    /// A person takes back a rule.
    pub(super) async fn on_withdraw_rule(&mut self, approval: ApprovalId, by: String) -> Result<(), Failure> {
        let drafts = self.recorder.state.decide(Command::WithdrawRule { approval, by });
        let drafts = drafts.map_err(|rejection| Failure::Refused(rejection.into()))?;
        let found = self.shared.parts.store.approvals.approval(approval).await;
        let found =
            found.map_err(|error| Failure::Refused(SessionError::internal("read the approval", error)))?;
        let mut record =
            found.ok_or_else(|| Failure::Refused(SessionError::not_found("approval", approval)))?;
        if let Some((resolution, _)) = &mut record.resolution {
            resolution.rule = None;
        }
        self.recorder.record(drafts, |_| vec![Change::PutApproval(Box::new(record))]).await?;
        Ok(())
    }

    /// Records what became of an approval, then tells the agent that waits for it.
    async fn settle(&mut self, resolution: ApprovalResolution) -> Result<(), RecordError> {
        let drafts = self.recorder.state.decide(Command::Resolve(resolution.clone()))?;
        let changes = self.resolved_records(&drafts).await?;
        self.recorder.record(drafts, |_| changes).await?;
        let now = self.shared.parts.env.now();
        let Some(run) = &mut self.run else { return Ok(()) };
        let place = run.asked.iter().position(|waiting| waiting.approval == resolution.approval_id);
        if let Some(place) = place {
            let waiting = run.asked.remove(place);
            if let Some(agent) = &mut run.agent {
                agent.answer(&waiting.key, &answer(resolution), now);
            }
        }
        Ok(())
    }

    /// The records of approvals that `drafts` settle.
    pub(super) async fn resolved_records(&self, drafts: &[Draft]) -> Result<Vec<Change>, RecordError> {
        let now = self.shared.parts.env.now();
        let mut changes = Vec::new();
        for draft in drafts {
            let EventBody::ApprovalResolved(resolution) = &draft.body else { continue };
            let found = self.shared.parts.store.approvals.approval(resolution.approval_id).await;
            if let Some(mut record) = found.map_err(RecordError::Read)? {
                record.resolution = Some((resolution.clone(), now));
                changes.push(Change::PutApproval(Box::new(record)));
            }
        }
        Ok(changes)
    }
}

/// Whether an earlier run asked this.
fn is_same(open: &OpenApproval, ask: &Ask, run: RunId) -> bool {
    let OpenApproval { request, .. } = open;
    let about = matter(ask.kind, &ask.detail);
    open.run != Some(run) && about.is_some() && about == matter(request.kind, &request.detail)
}

/// What the agent is told: never that a yes is for good, which each would take for a rule of its own. What nobody
/// answered is a no, with the reason.
fn answer(resolution: ApprovalResolution) -> Answer {
    let ApprovalResolution { decision, message, answers, .. } = resolution;
    match decision.decision() {
        Some(ApprovalDecision::AllowAlways) => Answer { decision: ApprovalDecision::Allow, message, answers },
        Some(decision) => Answer { decision, message, answers },
        None => Answer {
            decision: ApprovalDecision::Deny,
            message: message.or_else(|| Some("Nobody answered in time.".to_owned())),
            answers: None,
        },
    }
}
