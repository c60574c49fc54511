//! Notes in the conversation that an agent has not answered since its start: it may hang, and a run has half an hour.

use tokio::time::Instant;
use warren_domain::{Block, BlockId, Draft, EventBody, RunId, SystemSubtype};

use super::SessionTask;
use crate::recorder::RecordError;

/// Prefix of such a note's ID; the run's ID follows. Replays do not compare these notes.
const NAME: &str = "silent-";

impl SessionTask {
    pub(super) async fn note_silence(&mut self, now: Instant) -> Result<(), RecordError> {
        let Some(run) = self.run.as_mut().filter(|run| run.silent_at.is_some_and(|at| now >= at)) else {
            return Ok(());
        };
        run.silent_at = None;
        let seconds = self.shared.options.silence.as_secs();
        let block = Block::System {
            id: name(run.record.run_id),
            timestamp: self.shared.parts.env.now(),
            subtype: SystemSubtype::Status,
            message: format!(
                "The agent has not answered for {seconds} s after its start. It may still be starting; interrupt the run to \
                 stop it."
            ),
            metadata: None,
        };
        let draft = Draft::of_run(run.record.run_id, EventBody::BlockComplete { block });
        self.recorder.record(vec![draft], |_| Vec::new()).await.map(drop)
    }
}

/// Whether an entry is a sign of life. What a person said is repeated before the agent has done anything.
pub(super) fn is_answer(body: &EventBody) -> bool {
    match body {
        EventBody::BlockStart { block } | EventBody::BlockComplete { block } => {
            !matches!(block, Block::UserMessage { .. } | Block::System { .. })
        }
        EventBody::TextDelta { .. } | EventBody::Retrying { .. } | EventBody::SubagentStarted(_) => true,
        _ => false,
    }
}

/// Whether a block is a note about silence.
pub(crate) fn is_silence(block: &Block) -> bool {
    matches!(block, Block::System { id, .. } if id.as_str().starts_with(NAME))
}

fn name(run: RunId) -> BlockId {
    BlockId(format!("{NAME}{run}"))
}
