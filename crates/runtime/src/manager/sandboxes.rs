//! Looking at sandboxes and handling them by hand.

use async_trait::async_trait;
use serde_json::{Value, json};
use warren_domain::SessionId;

use super::SessionManager;
use crate::{
    api::{Agents as _, Force, SandboxReport, Sandboxes, SessionError},
    session::{Leave, Request},
};

#[async_trait]
impl Sandboxes for SessionManager {
    async fn sandbox_start(&self, session: SessionId) -> Result<SandboxReport, SessionError> {
        self.ask(session, Request::StartSandbox).await?;
        self.sandbox_get(session).await
    }

    async fn sandbox_stop(&self, session: SessionId, force: Force) -> Result<(), SessionError> {
        self.record(session).await?;
        if !self.roster.is_owned(session) {
            return Ok(());
        }
        self.ask_to_leave(session, Leave::Stop(force)).await
    }

    async fn sandbox_get(&self, session: SessionId) -> Result<SandboxReport, SessionError> {
        self.record(session).await?;
        if self.roster.is_owned(session) {
            return self.ask(session, Request::Report).await;
        }
        Ok(SandboxReport {
            session_id: session,
            state: self.roster.status(session).runtime,
            isolation: None,
            resources: None,
            limits: None,
            log: Vec::new(),
        })
    }

    async fn sandbox_list(&self) -> Vec<SandboxReport> {
        let sessions = self.roster.matching(|status| status.runtime.sandbox.is_some());
        let reports = sessions.into_iter().map(|session| self.sandbox_get(session));
        // One that ended meanwhile is not in the list any more.
        futures::future::join_all(reports).await.into_iter().flatten().collect()
    }

    async fn probe(&self) -> Value {
        let agents: Vec<_> =
            warren_agents::adapters().iter().map(|adapter| adapter.agent_type().to_string()).collect();
        let models: Vec<_> = self.shared.parts.models.describe().await.into_iter().map(|upstream| {
            json!({ "format": format!("{:?}", upstream.format), "target": upstream.target, "hasKey": upstream.has_key })
        }).collect();
        let programs = self.agent_list().await.into_iter().filter_map(|agent| agent.program).map(|program| {
            let version = program.installed.map(|(version, _)| version);
            json!({ "name": program.name, "installed": version.is_some(), "version": version })
        });
        let warnings = self.shared.providers.advice().await;
        let warnings: Vec<_> =
            warnings.into_iter().map(|(problem, hint)| json!({ "problem": problem, "hint": hint })).collect();
        let office = self.shared.converter.office();
        let documents = match &office {
            Ok(found) => json!({ "converter": found.name(), "path": found.root }),
            Err(missing) => json!({ "converter": null, "problem": missing.message, "hint": missing.hint }),
        };
        json!({
            "documents": documents,
            "warnings": warnings,
            "isolation": self.shared.parts.backend.probe().await,
            "agents": agents,
            "programs": programs.collect::<Vec<_>>(),
            "models": models,
        })
    }
}
