//! Tools: the call, from when it is announced, and its result, from when it runs.

use serde_json::{Map, Value, json};
use warren_domain::{Block, BlockId, EventBody};

use super::{Translator, parts::What};
use crate::{
    Output,
    opencode::{
        blocks::{self, Context},
        names,
        native::{Part, Progress, State},
    },
};

/// What of a call is shown already.
pub(super) struct Call {
    progress: Progress,
    /// It is shown as a subagent.
    has_thread: bool,
    /// What of its output is shown, once something is.
    output: Option<String>,
}

impl Call {
    /// The blocks that are shown.
    pub(super) fn ids(&self, part: &str) -> Vec<BlockId> {
        let result = self.output.is_some().then(|| names::result(part));
        std::iter::once(BlockId(part.to_owned())).chain(result).collect()
    }
}

/// A call as it is told of now.
pub(super) struct Now<'a> {
    pub(super) part: &'a Part<'a>,
    pub(super) state: State<'a>,
    pub(super) context: &'a Context,
    /// The session in which a task is carried out, once there is one.
    pub(super) child: Option<String>,
}

impl Translator {
    pub(super) fn tool(&mut self, part: &Part<'_>, context: &Context, out: &mut Vec<Output>) {
        let shown = match self.parts.remove(&part.id).map(|shown| shown.what) {
            Some(whole @ What::Whole { .. }) => return self.remember(part, whole),
            Some(What::Tool(call)) => Some(call),
            Some(What::Text { .. }) | None => None,
        };
        let state = part.state();
        let now = Now { part, state, context, child: thread_of(part, &state) };
        self.show_call(&now, shown.as_ref(), out);
        let mut output = shown.and_then(|call| call.output);
        if now.has_result() {
            output = Some(self.show_result(&now, output.as_deref(), out));
        }
        self.follow_task(&now, out);
        let call = Call { progress: now.state.progress(), has_thread: now.child.is_some(), output };
        self.note_call(&now);
        let what =
            if now.is_over() { What::Whole { ids: call.ids(&part.id), len: 0 } } else { What::Tool(call) };
        self.remember(part, what);
    }

    /// Keeps what somebody may be asked about.
    fn note_call(&mut self, now: &Now<'_>) {
        let id = blocks::call_id(now.part);
        if now.is_over() {
            self.calls.remove(&id);
        } else if now.state.progress() == Progress::Running {
            self.calls.entry(id).or_insert_with(|| (now.part.tool.clone(), now.state.input()));
        }
    }

    fn show_call(&mut self, now: &Now<'_>, shown: Option<&Call>, out: &mut Vec<Output>) {
        let has_thread = now.child.is_some();
        if shown.is_some_and(|call| call.progress == now.state.progress() && call.has_thread == has_thread) {
            return;
        }
        let block = match &now.child {
            Some(child) => blocks::subagent(now.part, &now.state, now.context, child.clone()),
            None => blocks::tool_use(now.part, &now.state, now.context),
        };
        let body = match shown {
            _ if now.is_over() => EventBody::BlockComplete { block },
            Some(call) if call.has_thread == has_thread => changed(&block),
            _ => EventBody::BlockStart { block },
        };
        self.emit(&now.part.session, body, out);
    }

    /// Shows a tool's result, and says what of it is shown now.
    fn show_result(&mut self, now: &Now<'_>, before: Option<&str>, out: &mut Vec<Output>) -> String {
        let so_far = now.state.metadata().output.unwrap_or_default();
        let block = || blocks::tool_result(now.part, &now.state, now.context);
        let block_id = names::result(&now.part.id);
        let body = match before.map(|before| so_far.strip_prefix(before)) {
            _ if now.is_over() => EventBody::BlockComplete { block: block() },
            None => EventBody::BlockStart { block: block() },
            Some(Some("")) => return so_far,
            Some(Some(more)) => EventBody::TextDelta { block_id, delta: more.to_owned() },
            // Of a long output only the end is told: what was shown is not its beginning any more.
            Some(None) => EventBody::BlockUpdate { block_id, updates: fields(json!({ "output": so_far })) },
        };
        self.emit(&now.part.session, body, out);
        so_far
    }
}

impl Now<'_> {
    pub(super) fn is_over(&self) -> bool {
        matches!(self.state.progress(), Progress::Completed | Progress::Failed)
    }

    /// A task has no result but its report, unless it failed before it had a thread.
    fn has_result(&self) -> bool {
        match self.state.progress() {
            Progress::Pending => false,
            Progress::Running => self.part.tool != TASK,
            Progress::Completed | Progress::Failed => self.child.is_none(),
        }
    }
}

/// The tool that gives a task to a subagent.
const TASK: &str = "task";

fn thread_of(part: &Part<'_>, state: &State<'_>) -> Option<String> {
    let session = (part.tool == TASK).then(|| state.metadata().session)??;
    (!session.is_empty() && session != part.session).then_some(session)
}

/// The fields of a call that change while it is under way.
fn changed(block: &Block) -> EventBody {
    let updates = match block {
        Block::ToolUse { status, input, description, .. } => {
            let mut updates = fields(json!({ "status": status, "input": input }));
            updates.extend(description.iter().map(|text| ("description".to_owned(), json!(text))));
            updates
        }
        Block::Subagent { status, .. } => fields(json!({ "status": status })),
        _ => Map::new(),
    };
    EventBody::BlockUpdate { block_id: block.id().clone(), updates }
}

fn fields(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(fields) => fields,
        _ => Map::new(),
    }
}
