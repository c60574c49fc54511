//! `warren import`: a session from a transcript.

use anyhow::Result;
use serde_json::value::RawValue;
use warren_domain::ProfileId;
use warren_wire::{ImportedThread, SessionImport, SessionListItem};

use crate::{cli, connect::with_server, report::Outcome, setting::Setting, terminal::Terminal, transcripts};

/// Runs the verb.
pub(crate) async fn run(setting: &Setting, args: cli::Import, terminal: &mut Terminal) -> Result<Outcome> {
    let found = transcripts::read(args.agent.as_deref(), &args.paths)?;
    let name = args.name.clone().or_else(|| {
        let path = found.path.as_deref()?;
        path.file_stem().map(|stem| stem.to_string_lossy().into_owned())
    });
    let thread = |(id, content): (String, Vec<u8>)| ImportedThread { id, transcript: text(content) };
    let import = SessionImport {
        agent_type: found.agent.agent_type(),
        agent_profile_reference: args.profile.as_deref().map(ProfileId::from),
        name,
        metadata: None,
        project_id: None,
        transcript: text(found.main),
        subagents: found.subagents.into_iter().map(thread).collect(),
    };
    with_server(setting, async |client| {
        let answer: Box<RawValue> = client.post("/api/import", &import).await?;
        if args.json {
            terminal.line(answer.get())?;
        } else {
            let session: SessionListItem = serde_json::from_str(answer.get())?;
            terminal.line(&session.session_id.to_string())?;
            let session = session.session_id.to_string();
            eprintln!("Continue with: {}", setting.invocation.command(&["chat", "--session", &session]));
        }
        Ok(())
    })
    .await
}

/// What is not UTF-8 could not be read by the agent either.
fn text(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
}
