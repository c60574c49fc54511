//! The loop of one thread: ask the model, do what it asks for, until it asks for nothing more.

use std::time::Instant;

use futures::{StreamExt, stream};
use serde::Serialize;
use warren_domain::{Block, BlockId, BlockStatus, ErrorCode, EventBody};

use super::{
    answer::Reply,
    ask::Stopped,
    block,
    clock::{elapsed_ms, now},
    compact::Trigger,
    control::Prompt,
    role::Role,
    session::Agent,
    thread::Thread,
    tools::{Call, Context, Output, Tool, shortened},
    transcript::Native,
};

/// Calls that run side by side.
const MAX_AT_ONCE: usize = 8;

/// An answer that was cut for its length is gone on with this often in a row.
const MAX_CONTINUED: u32 = 3;

const CUT_SHORT: &str = include_str!("prompts/cut_short.md");
const INTERRUPTED: &str = include_str!("prompts/interrupted.md");

/// How the work in a thread ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "outcome", rename_all = "lowercase")]
pub(super) enum End {
    Completed {
        #[serde(skip_serializing_if = "Option::is_none")]
        summary: Option<String>,
    },
    Failed {
        code: ErrorCode,
        message: String,
        recoverable: bool,
    },
    Interrupted,
}

/// What an answer leads to.
enum Next {
    Call(Vec<Call>),
    /// The answer was cut for its length.
    Continue,
    /// The answer was cut because the window is full.
    MakeRoom,
    End(End),
}

impl Agent {
    /// Works in a thread until the model has nothing more to do.
    pub(super) async fn converse(&self, thread: &Thread, role: &Role) -> End {
        let (mut n_continued, mut n_answers) = (0, 0);
        while self.max_turns.is_none_or(|max| n_answers < max) {
            n_answers += 1;
            if role.depth == 0 {
                self.take_up_messages(thread);
            }
            if let Some(error) = thread.failure() {
                return transcript_failed(&error);
            }
            let reply = match self.ask(thread, role).await {
                Ok(reply) => reply,
                Err(stopped) => return stopped.into_end(thread),
            };
            match next(reply) {
                Next::Call(calls) => self.run_calls(thread, role, calls).await,
                Next::Continue if n_continued < MAX_CONTINUED => {
                    n_continued += 1;
                    thread.note(CUT_SHORT.trim());
                    continue;
                }
                Next::MakeRoom if n_continued < MAX_CONTINUED => {
                    n_continued += 1;
                    thread.note(CUT_SHORT.trim());
                    match self.compact(thread, role, Trigger::Refused(n_continued)).await {
                        Ok(_) => continue,
                        Err(stopped) => return stopped.into_end(thread),
                    }
                }
                Next::Continue | Next::MakeRoom => {
                    return End::failed(ErrorCode::LlmError, "the model's response does not end");
                }
                Next::End(End::Completed { .. }) if role.depth == 0 && self.control.has_waiting() => {}
                Next::End(end) => return end,
            }
            n_continued = 0;
            if self.control.is_interrupted() {
                return interrupted(thread);
            }
        }
        let message = format!("stopped after {n_answers} answers of the model in one turn");
        End::failed(ErrorCode::AgentError, message)
    }

    /// Puts a message into the thread, unless it is there already.
    pub(super) fn take_up(&self, thread: &Thread, prompt: Prompt) {
        if thread.has(prompt.message.as_str()) {
            return;
        }
        let native = self
            .profile
            .expanded(&prompt.content)
            .map(|text| Native { input: Some(text.into()), ..Native::default() });
        let block = Block::UserMessage { id: prompt.message, timestamp: now(), content: prompt.content };
        thread.record_with(EventBody::BlockComplete { block }, native);
    }

    /// Ends calls that are not carried out because the turn was stopped.
    pub(super) fn close_interrupted(&self, thread: &Thread, calls: &[Call]) {
        for call in calls {
            conclude(thread, call, Output::failed(Output::INTERRUPTED), None);
        }
    }

    fn take_up_messages(&self, thread: &Thread) {
        while let Some(prompt) = self.control.take() {
            self.take_up(thread, prompt);
        }
    }

    /// Runs the calls of one answer: neighbours that may do so side by side, the others in order.
    async fn run_calls(&self, thread: &Thread, role: &Role, calls: Vec<Call>) {
        let runs_beside = |call: &Call| role.tool(&call.name).is_some_and(Tool::runs_beside_others);
        for batch in calls.chunk_by(|a, b| runs_beside(a) && runs_beside(b)) {
            if self.control.is_interrupted() {
                self.close_interrupted(thread, batch);
                continue;
            }
            let running = stream::iter(batch).map(|call| self.run_call(thread, role, call));
            running.buffer_unordered(MAX_AT_ONCE).collect::<()>().await;
        }
    }

    async fn run_call(&self, thread: &Thread, role: &Role, call: &Call) {
        if let Some(task) = &call.task {
            return self.run_task(thread, role, call, task).await;
        }
        let (Some(tool), None) = (role.tool(&call.name), &call.problem) else {
            let problem = call.problem.clone().unwrap_or_default();
            return conclude(thread, call, Output::failed(problem), None);
        };
        if let Err(refused) = self.permit(thread, tool, call).await {
            return conclude(thread, call, refused, None);
        }
        let started = Instant::now();
        thread.record(block::status_update(&BlockId(call.id.clone()), BlockStatus::Running));
        if tool.is_live() {
            let block = block::tool_result(&call.id, String::new(), false, None);
            thread.say(EventBody::BlockStart { block });
        }
        let block_id = block::result_id(&call.id);
        let live = |delta: &str| {
            thread.say(EventBody::TextDelta { block_id: block_id.clone(), delta: delta.to_owned() });
        };
        let context = Context { cwd: &self.cwd, control: &self.control, shells: &self.shells, live: &live };
        let output = match tool {
            Tool::Question => self.ask_person(thread, call).await,
            Tool::WebSearch => self.search(thread, role, call).await,
            tool => tool.run(call.input.clone(), &context).await,
        };
        conclude(thread, call, output, Some(elapsed_ms(started)));
    }
}

impl Stopped {
    fn into_end(self, thread: &Thread) -> End {
        match self {
            Self::Interrupted => interrupted(thread),
            Self::Failed(error) => End::failed(ErrorCode::LlmError, error.to_string()),
        }
    }
}

impl End {
    pub(super) fn failed(code: ErrorCode, message: impl Into<String>) -> Self {
        End::Failed { code, message: message.into(), recoverable: true }
    }
}

fn next(reply: Reply) -> Next {
    if !reply.calls.is_empty() {
        return Next::Call(reply.calls);
    }
    match reply.stop_reason.as_deref() {
        Some("max_tokens" | "pause_turn") => Next::Continue,
        Some("refusal") => {
            Next::End(End::failed(ErrorCode::LlmError, "the model's provider declined to answer"))
        }
        Some("model_context_window_exceeded") => Next::MakeRoom,
        _ => Next::End(End::Completed { summary: reply.text }),
    }
}

/// A call's result and its end.
fn conclude(thread: &Thread, call: &Call, output: Output, took_ms: Option<u64>) {
    let status = if output.is_error { BlockStatus::Error } else { BlockStatus::Success };
    let text = shortened(output.text);
    if call.task.is_some() {
        let block = super::subagent::with_report(call.block(status), text, took_ms);
        return thread.record(EventBody::BlockComplete { block });
    }
    let result = block::tool_result(&call.id, text, output.is_error, took_ms);
    let native = (!output.media.is_empty()).then(|| Native { media: output.media, ..Native::default() });
    thread.record_with(EventBody::BlockComplete { block: result }, native);
    thread.record(EventBody::BlockComplete { block: call.block(status) });
}

/// The model is told that it was stopped: otherwise it takes its half sentence for a whole one.
fn interrupted(thread: &Thread) -> End {
    thread.note(INTERRUPTED.trim());
    End::Interrupted
}

fn transcript_failed(error: &std::io::Error) -> End {
    let is_full = matches!(
        error.kind(),
        std::io::ErrorKind::StorageFull
            | std::io::ErrorKind::QuotaExceeded
            | std::io::ErrorKind::FileTooLarge
    );
    let code = if is_full { ErrorCode::DiskLimit } else { ErrorCode::AgentError };
    End::failed(code, format!("failed to save the conversation: {error}"))
}
