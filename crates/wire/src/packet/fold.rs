//! Events → packets: one function, one way.

use std::collections::{BTreeMap, HashMap, HashSet};

use serde_json::{Map, Value};
use warren_domain::{
    ApprovalRequest, ApprovalResolution, Artifact, ArtifactChange, ArtifactKind, Block, BlockId, BlockStatus,
    ConversationId, Event, EventBody, FileChange, Resolution, RunId, SandboxStatus, SessionRuntimeState,
    SubagentStarted, Timestamp,
};

use super::{ArtifactMetadata, BuildArtifactType, Packet, PacketBody, StepStatus, ToolStatus};

/// Where `/outputs` is, seen from the workspace.
const OUTPUTS: &str = "outputs/";

/// What must be remembered of the entries before, to tell of the next. Give it the entries of a log in order.
#[derive(Debug, Clone, Default)]
pub struct Packets {
    /// Blocks that grow.
    growing: HashMap<(ConversationId, BlockId), Growing>,
    /// Tools that were called and have not ended, by the id of the call.
    tools: BTreeMap<String, Tool>,
    /// Tools that have ended, by the id of the call: some agents say once more how.
    over: HashSet<String>,
    /// Steps that began and have not ended, oldest first.
    steps: Vec<String>,
    /// The step that says that the sandbox starts.
    sandbox: Option<String>,
    /// The step that says that a model is called again.
    retry: Option<String>,
    /// The active run, if its start was seen.
    run: Option<RunId>,
}

/// A block that grows, and what of it was told.
#[derive(Debug, Clone)]
struct Growing {
    part: Part,
    told: String,
}

/// What a growing block is to a client.
#[derive(Debug, Clone)]
enum Part {
    Output,
    /// A step of its own, which ends with the block.
    Step(String),
    /// Part of a subagent's step, which goes on.
    WithinStep(String),
    ToolResult(String),
}

#[derive(Debug, Clone)]
struct Tool {
    name: String,
    input: Value,
    /// Its start was told: it waits until the input is known.
    is_told: bool,
    /// It is known to have failed, though its result did not come.
    failed: bool,
    block: (ConversationId, BlockId),
}

impl Packets {
    /// For a reader that comes while the sandbox is in this state: if it is being started, that step is open.
    pub fn meanwhile(&mut self, runtime: &SessionRuntimeState, timestamp: Timestamp) -> Vec<Packet> {
        let mut told = Vec::new();
        self.sandbox_is(runtime, &mut told);
        told.into_iter().map(|body| Packet { body, timestamp }).collect()
    }

    /// The packets that an entry becomes.
    pub fn project(&mut self, event: &Event) -> Vec<Packet> {
        let mut told = Vec::new();
        self.tell(event, &mut told);
        told.into_iter().map(|body| Packet { body, timestamp: event.timestamp }).collect()
    }

    fn tell(&mut self, event: &Event, told: &mut Vec<PacketBody>) {
        let thread = &event.conversation_id;
        match &event.body {
            EventBody::SessionStatus { runtime } => self.sandbox_is(runtime, told),
            EventBody::BlockStart { .. }
            | EventBody::TextDelta { .. }
            | EventBody::BlockUpdate { .. }
            | EventBody::BlockComplete { .. }
            | EventBody::BlockDiscarded { .. } => self.of_block(thread, &event.body, told),
            EventBody::Retrying { reason, .. } => {
                self.retry_is_over(StepStatus::Failed, told);
                let step = format!("retry-{}", event.seq);
                self.step_start(step.clone(), "Retrying…", told);
                told.push(PacketBody::StepDelta { step_id: step.clone(), content: reason.clone() });
                self.retry = Some(step);
            }
            EventBody::SubagentStarted(started) => self.subagent(thread, started, told),
            EventBody::SubagentCompleted { status, .. } => {
                self.step_end(thread.as_str(), step_status(*status), told);
            }
            EventBody::ApprovalRequested(request) => self.ask(request, told),
            EventBody::ApprovalResolved(resolution) => self.answer(resolution, told),
            EventBody::FileChanged { path, change, size_bytes, .. } => {
                told.push(file(path, *change, *size_bytes));
            }
            EventBody::ArtifactCreated { .. }
            | EventBody::ArtifactUpdated { .. }
            | EventBody::ArtifactDeleted { .. } => told.extend(of_artifact(&event.body)),
            EventBody::ContextCompacted { summary, .. } => {
                let step = format!("compacted-{}", event.seq);
                self.one_step(step, "Context compacted", summary.as_deref(), StepStatus::Success, told);
            }
            EventBody::RunStarted { .. } => self.run = event.run_id,
            EventBody::RunCompleted { .. }
            | EventBody::RunInterrupted { .. }
            | EventBody::RunFailed { .. } => {
                // Messages that were taken up by the active run or removed from the queue end too, and nothing else does.
                if self.run.is_none() || self.run == event.run_id {
                    self.run = None;
                    self.end(&event.body, told);
                }
            }
            EventBody::ApprovalRuleWithdrawn { .. }
            | EventBody::SessionCreated { .. }
            | EventBody::SessionUpdated { .. }
            | EventBody::SessionEnded { .. }
            | EventBody::RunQueued { .. }
            | EventBody::MetadataUpdate { .. }
            | EventBody::ModelCallStarted(_)
            | EventBody::ModelCalled(_)
            | EventBody::EgressDecided { .. }
            | EventBody::LimitReached { .. }
            | EventBody::VersionCommitted { .. }
            | EventBody::LogCompacted { .. }
            | EventBody::PortOpened { .. }
            | EventBody::PortClosed { .. }
            | EventBody::Unrecognized { .. } => {}
        }
    }

    fn of_block(&mut self, thread: &ConversationId, body: &EventBody, told: &mut Vec<PacketBody>) {
        match body {
            EventBody::BlockStart { block } => {
                self.retry_is_over(StepStatus::Success, told);
                self.begin(thread, block, told);
            }
            EventBody::TextDelta { block_id, delta } => self.grow(thread, block_id, delta, told),
            EventBody::BlockUpdate { block_id, updates } => self.update(thread, block_id, updates, told),
            EventBody::BlockComplete { block } => {
                self.retry_is_over(StepStatus::Success, told);
                self.complete(thread, block, told);
            }
            EventBody::BlockDiscarded { block_id, .. } => self.discard(thread, block_id, told),
            _ => {}
        }
    }

    fn end(&mut self, body: &EventBody, told: &mut Vec<PacketBody>) {
        match body {
            EventBody::RunCompleted { summary, .. } => {
                self.close(StepStatus::Success, told);
                told.push(PacketBody::Done { summary: summary.clone() });
            }
            EventBody::RunInterrupted { .. } => {
                self.close(StepStatus::Skipped, told);
                told.push(PacketBody::Done { summary: None });
            }
            EventBody::RunFailed { code, message, recoverable, .. } => {
                self.close(StepStatus::Failed, told);
                told.push(PacketBody::Error {
                    message: message.clone(),
                    code: Some(code.to_string()),
                    recoverable: *recoverable,
                });
            }
            _ => {}
        }
    }

    fn sandbox_is(&mut self, runtime: &SessionRuntimeState, told: &mut Vec<PacketBody>) {
        let state = runtime.sandbox.as_ref().map(|sandbox| (&sandbox.sandbox_id, sandbox.status));
        match state {
            Some((id, SandboxStatus::Starting)) if self.sandbox.is_none() => {
                let step = format!("sandbox-{id}");
                self.step_start(step.clone(), "Initializing sandbox…", told);
                self.sandbox = Some(step);
            }
            Some((_, SandboxStatus::Starting)) => {}
            Some((_, SandboxStatus::Ready)) => self.sandbox_started(StepStatus::Success, told),
            Some((_, SandboxStatus::Unhealthy | SandboxStatus::Terminated)) | None => {
                self.sandbox_started(StepStatus::Failed, told);
            }
        }
    }

    fn sandbox_started(&mut self, status: StepStatus, told: &mut Vec<PacketBody>) {
        if let Some(step) = self.sandbox.take() {
            self.step_end(&step, status, told);
        }
    }

    fn retry_is_over(&mut self, status: StepStatus, told: &mut Vec<PacketBody>) {
        if let Some(step) = self.retry.take() {
            self.step_end(&step, status, told);
        }
    }

    fn begin(&mut self, thread: &ConversationId, block: &Block, told: &mut Vec<PacketBody>) {
        let (part, content) = match block {
            Block::AssistantText { content, .. } if thread.is_main() => {
                told.push(PacketBody::OutputStart {});
                (Part::Output, content.clone())
            }
            Block::AssistantText { content, .. } => {
                (Part::WithinStep(thread.as_str().to_owned()), content.clone())
            }
            Block::Thinking { id, content, .. } => {
                self.step_start(id.as_str().to_owned(), "Thinking", told);
                (Part::Step(id.as_str().to_owned()), content.clone())
            }
            Block::ToolUse { id, tool_name, tool_use_id, input, .. } => {
                let block = (thread.clone(), id.clone());
                let (name, input_so_far) = (tool_name.clone(), input.clone());
                let tool = Tool { name, input: input_so_far, is_told: false, failed: false, block };
                self.tools.insert(tool_use_id.clone(), tool);
                if !is_empty(input) {
                    self.tool_start(tool_use_id, told);
                }
                return;
            }
            Block::ToolResult { tool_use_id, output, .. } => {
                self.tool_start(tool_use_id, told);
                (Part::ToolResult(tool_use_id.clone()), text(output).unwrap_or_default())
            }
            Block::UserMessage { .. }
            | Block::System { .. }
            | Block::Subagent { .. }
            | Block::Error { .. } => return,
        };
        let key = (thread.clone(), block.id().clone());
        self.growing.insert(key, Growing { part, told: String::new() });
        self.grow(thread, block.id(), &content, told);
    }

    fn grow(&mut self, thread: &ConversationId, block: &BlockId, delta: &str, told: &mut Vec<PacketBody>) {
        let Some(growing) = self.growing.get_mut(&(thread.clone(), block.clone())) else { return };
        if delta.is_empty() {
            return;
        }
        growing.told.push_str(delta);
        let content = delta.to_owned();
        told.push(match &growing.part {
            Part::Output => PacketBody::OutputDelta { content },
            Part::Step(step) | Part::WithinStep(step) => {
                PacketBody::StepDelta { step_id: step.clone(), content }
            }
            Part::ToolResult(call) => PacketBody::ToolOutput {
                tool_name: self.tools.get(call).map(|tool| tool.name.clone()).unwrap_or_default(),
                output: Some(content),
                is_error: false,
            },
        });
    }

    /// A tool begins when its input is known, or when it is known to run.
    fn update(
        &mut self,
        thread: &ConversationId,
        block: &BlockId,
        updates: &Map<String, Value>,
        told: &mut Vec<PacketBody>,
    ) {
        let is_it = |tool: &Tool| tool.block.0 == *thread && tool.block.1 == *block;
        let Some((call, tool)) = self.tools.iter_mut().find(|(_, tool)| is_it(tool)) else { return };
        if let Some(input) = updates.get("input") {
            tool.input = input.clone();
        }
        let runs = updates.contains_key("input") || updates.get("status").is_some_and(|it| it == "running");
        if runs {
            let call = call.clone();
            self.tool_start(&call, told);
        }
    }

    fn complete(&mut self, thread: &ConversationId, block: &Block, told: &mut Vec<PacketBody>) {
        match block {
            Block::AssistantText { content, .. } | Block::Thinking { content, .. } => {
                if let Some(growing) = self.finish(thread, block, content, told)
                    && let Part::Step(step) = growing.part
                {
                    self.step_end(&step, StepStatus::Success, told);
                }
            }
            Block::ToolUse { tool_use_id, .. } if self.over.contains(tool_use_id) => {}
            Block::ToolUse { tool_use_id, input, status, .. } => {
                if !self.tools.contains_key(tool_use_id) {
                    self.begin(thread, block, told);
                }
                if let Some(tool) = self.tools.get_mut(tool_use_id) {
                    tool.input = input.clone();
                    tool.failed = *status == BlockStatus::Error;
                }
                self.tool_start(tool_use_id, told);
            }
            Block::ToolResult { tool_use_id, output, is_error, .. } => {
                self.result(thread, block, (tool_use_id, output, *is_error), told);
            }
            Block::Error { id, message, .. } => {
                self.one_step(id.as_str().to_owned(), "Error", Some(message), StepStatus::Failed, told);
            }
            Block::UserMessage { .. } | Block::System { .. } | Block::Subagent { .. } => {}
        }
    }

    fn result(
        &mut self,
        thread: &ConversationId,
        block: &Block,
        (call, output, is_error): (&str, &Value, bool),
        told: &mut Vec<PacketBody>,
    ) {
        self.tool_start(call, told);
        let before = self.growing.remove(&(thread.clone(), block.id().clone()));
        let before = before.map(|growing| growing.told).unwrap_or_default();
        // A result without its call belongs to something that is told of otherwise: a subagent.
        let Some(tool) = self.tools.remove(call) else { return };
        self.over.insert(call.to_owned());
        let output = text(output).map(|whole| remainder(&before, &whole).to_owned());
        let output = output.filter(|output| !output.is_empty());
        if output.is_some() || is_error || before.is_empty() {
            told.push(PacketBody::ToolOutput { tool_name: tool.name.clone(), output, is_error });
        }
        let status = if is_error { ToolStatus::Failed } else { ToolStatus::Success };
        told.push(PacketBody::ToolEnd { tool_name: tool.name, status });
    }

    /// Tells what of a whole block was not told yet, also of one that never began.
    fn finish(
        &mut self,
        thread: &ConversationId,
        block: &Block,
        whole: &str,
        told: &mut Vec<PacketBody>,
    ) -> Option<Growing> {
        let key = (thread.clone(), block.id().clone());
        match self.growing.get(&key) {
            None => self.begin(thread, block, told),
            Some(growing) => {
                let rest = remainder(&growing.told, whole).to_owned();
                self.grow(thread, block.id(), &rest, told);
            }
        }
        self.growing.remove(&key)
    }

    fn discard(&mut self, thread: &ConversationId, block: &BlockId, told: &mut Vec<PacketBody>) {
        let key = (thread.clone(), block.clone());
        if let Some(Growing { part: Part::Step(step), .. }) = self.growing.remove(&key) {
            self.step_end(&step, StepStatus::Skipped, told);
        }
        let call = self.tools.iter().find(|(_, tool)| tool.block == key).map(|(call, _)| call.clone());
        if let Some(tool) = call.and_then(|call| self.tools.remove(&call))
            && tool.is_told
        {
            told.push(PacketBody::ToolEnd { tool_name: tool.name, status: ToolStatus::Failed });
        }
    }

    fn subagent(&mut self, thread: &ConversationId, started: &SubagentStarted, told: &mut Vec<PacketBody>) {
        let title = match &started.name {
            Some(name) => format!("Subagent {name}"),
            None => "Subagent".to_owned(),
        };
        self.step_start(thread.as_str().to_owned(), &title, told);
    }

    fn ask(&mut self, request: &ApprovalRequest, told: &mut Vec<PacketBody>) {
        let step = request.approval_id.to_string();
        self.step_start(step.clone(), "Waiting for approval", told);
        told.push(PacketBody::StepDelta { step_id: step, content: request.title.clone() });
    }

    fn answer(&mut self, resolution: &ApprovalResolution, told: &mut Vec<PacketBody>) {
        let status = match resolution.decision {
            Resolution::Allow | Resolution::AllowAlways => StepStatus::Success,
            Resolution::Deny => StepStatus::Failed,
            Resolution::Expired => StepStatus::Skipped,
        };
        self.step_end(&resolution.approval_id.to_string(), status, told);
    }

    fn tool_start(&mut self, call: &str, told: &mut Vec<PacketBody>) {
        let Some(tool) = self.tools.get_mut(call).filter(|tool| !tool.is_told) else { return };
        tool.is_told = true;
        told.push(PacketBody::ToolStart { tool_name: tool.name.clone(), tool_input: input(&tool.input) });
    }

    fn step_start(&mut self, step_id: String, title: &str, told: &mut Vec<PacketBody>) {
        self.steps.push(step_id.clone());
        told.push(PacketBody::StepStart { step_id, title: Some(title.to_owned()) });
    }

    /// Ends a step. One that did not begin here does not end here, and none ends twice.
    fn step_end(&mut self, step_id: &str, status: StepStatus, told: &mut Vec<PacketBody>) {
        let open = self.steps.len();
        self.steps.retain(|step| step != step_id);
        if self.steps.len() < open {
            told.push(PacketBody::StepEnd { step_id: step_id.to_owned(), status });
        }
    }

    fn one_step(
        &mut self,
        step_id: String,
        title: &str,
        content: Option<&str>,
        status: StepStatus,
        told: &mut Vec<PacketBody>,
    ) {
        self.step_start(step_id.clone(), title, told);
        if let Some(content) = content {
            told.push(PacketBody::StepDelta { step_id: step_id.clone(), content: content.to_owned() });
        }
        self.step_end(&step_id, status, told);
    }

    /// A run is over: so is everything that it began.
    fn close(&mut self, status: StepStatus, told: &mut Vec<PacketBody>) {
        for (_, tool) in std::mem::take(&mut self.tools) {
            if tool.is_told {
                let is_well = status == StepStatus::Success && !tool.failed;
                let status = if is_well { ToolStatus::Success } else { ToolStatus::Failed };
                told.push(PacketBody::ToolEnd { tool_name: tool.name, status });
            }
        }
        for step_id in std::mem::take(&mut self.steps).into_iter().rev() {
            told.push(PacketBody::StepEnd { step_id, status });
        }
        *self = Self::default();
    }
}

fn file(path: &str, change: FileChange, size_bytes: Option<u64>) -> PacketBody {
    let path = output_path(path);
    match change {
        FileChange::Created | FileChange::Modified => PacketBody::FileWrite { path, size_bytes },
        FileChange::Deleted => PacketBody::FileDelete { path },
    }
}

fn of_artifact(body: &EventBody) -> Option<PacketBody> {
    match body {
        EventBody::ArtifactCreated { artifact } => {
            metadata(artifact).map(|artifact| PacketBody::ArtifactCreated { artifact })
        }
        EventBody::ArtifactUpdated { artifact, changes } => {
            let changes = Some(changes.iter().map(|change| word(*change).to_owned()).collect());
            metadata(artifact).map(|artifact| PacketBody::ArtifactUpdated { artifact, changes })
        }
        // The file of any other kind is told of as a file.
        EventBody::ArtifactDeleted { artifact } if artifact.kind == ArtifactKind::WebApp => {
            metadata(artifact).map(|gone| PacketBody::FileDelete { path: gone.path })
        }
        _ => None,
    }
}

/// An artifact of one of the six kinds that clients of this API know. Others appear as files.
pub(super) fn metadata(artifact: &Artifact) -> Option<ArtifactMetadata> {
    Some(ArtifactMetadata {
        id: artifact.id.0,
        kind: BuildArtifactType::of(artifact.kind)?,
        name: artifact.name.clone(),
        path: output_path(&artifact.path),
        preview_url: artifact.preview_url.clone(),
    })
}

fn word(change: ArtifactChange) -> &'static str {
    match change {
        ArtifactChange::Content => "content",
        ArtifactChange::Kind => "type",
        ArtifactChange::Name => "name",
        ArtifactChange::Port => "port",
        ArtifactChange::Command => "command",
        ArtifactChange::PreviewUrl => "preview_url",
    }
}

/// From `/outputs`, which is a directory of the workspace.
pub(super) fn output_path(path: &str) -> String {
    path.strip_prefix(OUTPUTS).map_or_else(|| format!("../{path}"), str::to_owned)
}

/// What of the whole was not told yet. A text that is not the beginning of the whole cannot be taken back: then the
/// whole is told, unless it is only a part of what was.
fn remainder<'a>(told: &str, whole: &'a str) -> &'a str {
    match whole.strip_prefix(told) {
        Some(rest) => rest,
        None if told.starts_with(whole) => "",
        None => whole,
    }
}

/// The input of a tool: an object or a text.
fn input(input: &Value) -> Option<Value> {
    match input {
        Value::Null => None,
        Value::Object(_) | Value::String(_) => Some(input.clone()),
        Value::Bool(_) | Value::Number(_) | Value::Array(_) => Some(Value::String(input.to_string())),
    }
}

fn text(output: &Value) -> Option<String> {
    match output {
        Value::Null => None,
        Value::String(text) => Some(text.clone()),
        other => Some(other.to_string()),
    }
}

fn is_empty(input: &Value) -> bool {
    match input {
        Value::Null => true,
        Value::Object(fields) => fields.is_empty(),
        _ => false,
    }
}

fn step_status(status: BlockStatus) -> StepStatus {
    match status {
        BlockStatus::Success => StepStatus::Success,
        BlockStatus::Pending | BlockStatus::Running | BlockStatus::Error => StepStatus::Failed,
    }
}
