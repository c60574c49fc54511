//! `warren stop`: ends the active run of a session.

use anyhow::Result;
use serde_json::value::RawValue;
use warren_wire::Interrupted;

use crate::{cli, connect::with_server, lookup::find, report::Outcome, setting::Setting, terminal::Terminal};

/// Runs the command.
pub(crate) async fn run(setting: &Setting, args: cli::Stop, terminal: &mut Terminal) -> Result<Outcome> {
    with_server(setting, async |client| {
        let session = find(client, &args.session).await?;
        let answer: Box<RawValue> =
            client.post(&format!("/api/sessions/{session}/interrupt"), &serde_json::json!({})).await?;
        if args.json {
            return Ok(terminal.line(answer.get())?);
        }
        let stopped: Interrupted = serde_json::from_str(answer.get())?;
        Ok(terminal.line(match stopped.run_id {
            Some(_) => "Stopped the active run",
            None => "No run is active",
        })?)
    })
    .await
}
