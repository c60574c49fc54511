//! What Claude Code says about itself.

use serde::Deserialize;
use warren_domain::{Block, ConversationId, Draft, EventBody, Timestamp};

use super::{ClaudeCodec, Unreadable, event};
use crate::{
    Output,
    claude_code::{
        blocks,
        native::{CompactMetadata, Line, QUIET_SYSTEM, TurnResult, total},
        scan::{read, text},
    },
};

/// The API failed and is asked again.
#[derive(Deserialize)]
struct Retry {
    #[serde(default)]
    attempt: u32,
    #[serde(default)]
    retry_delay_ms: f64,
    #[serde(default)]
    error_status: Option<u16>,
    #[serde(default)]
    error: Option<String>,
}

impl ClaudeCodec {
    pub(super) fn system(
        &mut self,
        line: &Line<'_>,
        raw: &[u8],
        at: Timestamp,
        out: &mut Vec<Output>,
    ) -> Result<(), Unreadable> {
        match &*line.subtype() {
            "session_state_changed" => self.state_changed(raw, out),
            "task_started" => self.task_started(raw, at, out),
            "task_updated" => self.task_updated(raw),
            "task_notification" => self.task_notification(raw, at, out),
            "api_retry" => return self.retrying(raw, at, out),
            "compact_boundary" => self.compacted(line, at, out),
            "informational" if !line.is_hidden => self.informed(line, at, out),
            subtype if QUIET_SYSTEM.contains(&subtype) => {}
            _ => return Err(Unreadable),
        }
        Ok(())
    }

    fn state_changed(&mut self, raw: &[u8], out: &mut Vec<Output>) {
        if !self.is_message_open() {
            self.flush(out);
        }
        self.turn.state_changed(raw, out);
    }

    fn retrying(&mut self, raw: &[u8], at: Timestamp, out: &mut Vec<Output>) -> Result<(), Unreadable> {
        let retry: Retry = read(raw).ok_or(Unreadable)?;
        self.release_early(out);
        self.discard_open("the connection was lost", out);
        self.flush(out);
        let error = retry.error.unwrap_or_else(|| "the API did not answer".to_owned());
        let body = EventBody::Retrying {
            attempt: retry.attempt,
            reason: retry.error_status.map_or_else(|| error.clone(), |status| format!("{status} {error}")),
            // Delays are seconds; a fraction of a millisecond does not matter.
            next_at: Some(at.plus_millis(retry.retry_delay_ms as i64)),
        };
        out.push(event(ConversationId::main(), body));
        Ok(())
    }

    /// The model knows only a summary of what was before. The summary is in the next line.
    fn compacted(&mut self, line: &Line<'_>, at: Timestamp, out: &mut Vec<Output>) {
        let done: CompactMetadata = line.compact_metadata.and_then(read).unwrap_or_default();
        let (before, after) = (done.pre_tokens, done.post_tokens);
        let id = line.uuid().unwrap_or_default();
        let block = blocks::compaction(&id, &done, line.time().unwrap_or(at));
        self.beside(Draft::of_session(EventBody::ContextCompacted { summary: None, before, after }), at, out);
        self.beside(Draft::of_session(EventBody::BlockComplete { block: block.clone() }), at, out);
        self.compaction = Some(block);
    }

    pub(super) fn summarised(&mut self, block: Block, summary: String, out: &mut Vec<Output>) {
        let block = blocks::with_summary(block, summary);
        let draft = Draft::of_session(EventBody::BlockComplete { block });
        if self.is_message_open() { self.held.push(draft) } else { out.push(Output::Event(draft)) }
    }

    fn informed(&mut self, line: &Line<'_>, at: Timestamp, out: &mut Vec<Output>) {
        let message = line.content.and_then(text).unwrap_or_default().into_owned();
        let block =
            blocks::notice(line.uuid().as_deref().unwrap_or_default(), message, line.time().unwrap_or(at));
        self.beside(Draft::of_session(EventBody::BlockComplete { block }), at, out);
    }

    pub(super) fn result(
        &mut self,
        raw: &[u8],
        at: Timestamp,
        out: &mut Vec<Output>,
    ) -> Result<(), Unreadable> {
        let result: TurnResult = read(raw).ok_or(Unreadable)?;
        self.take_up_prompt(at, out);
        self.release_early(out);
        self.discard_open("the turn ended before it was whole", out);
        self.flush(out);
        self.end_untold_agents(at, out);
        if let Some(usage) = self.spent(&result) {
            let model = usage.model.clone();
            let body =
                EventBody::MetadataUpdate { cost_usd: usage.cost_usd, usage, model, context_tokens: None };
            out.push(event(ConversationId::main(), body));
        }
        self.turn.result(result, out);
        self.early = (!self.turn.is_live()).then(Vec::new);
        Ok(())
    }

    /// What was spent in this process, with all subagents. After a resume Claude Code counts on from what was before,
    /// so that only what was seen here can be told.
    fn spent(&self, result: &TurnResult) -> Option<warren_domain::Usage> {
        let cost_usd = result.total_cost_usd.unwrap_or_default();
        match &result.model_usage {
            Some(models) if !models.is_empty() && !self.is_resumed => {
                Some(warren_domain::Usage { cost_usd, ..total(models) })
            }
            // Of older versions only the messages say it.
            None if !self.has_stream && !self.messages.is_empty() => {
                let mut sum = warren_domain::Usage::default();
                self.messages.values().for_each(|usage| sum.add(usage));
                Some(warren_domain::Usage { cost_usd, ..sum })
            }
            _ => None,
        }
    }
}
