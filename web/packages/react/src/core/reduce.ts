// The fold: what one entry of the log changes. The same as `Conversations::apply` in crates/domain, and proved so on the
// same recordings (reduce.test.ts).
import type { Block, Event, LogLine } from "../wire/types";
import { isBlock } from "./block";
import { MAIN, threadOf, waitingOf, type Place, type Run, type SessionState } from "./state";

/** What was changed, for those who watch a part only. */
export type Topic =
  | "session" | "runs" | "spending" | "approvals" | "subagents" | "files" | "artifacts" | "versions" | "retrying"
  | "compacted" | `order:${string}` | `block:${string}`;

export const blockTopic = (conversation: string, id: string): Topic => `block:${conversation}/${id}`;
export const orderTopic = (conversation: string): Topic => `order:${conversation}`;

/** Folds one line into `state`, which it changes in place, and adds what it touched to `touched`. */
export function reduce(state: SessionState, line: LogLine, touched: Set<Topic> = new Set()): void {
  if (line.type === "log_compacted") {
    state.compacted = [...state.compacted, { from: line.from, to: line.to }];
    state.seq = Math.max(state.seq, line.to);
    touched.add("compacted");
    return;
  }
  state.seq = line.seq ?? state.seq;
  reduceEvent(state, line, touched);
  if (state.covered.length > 0) state.covered = state.covered.filter((part) => part.until > state.seq);
}

function reduceEvent(state: SessionState, event: Event, touched: Set<Topic>): void {
  switch (event.type) {
    case "block_start":
    case "block_complete":
    case "text_delta":
    case "block_update":
    case "block_discarded":
      return reduceBlock(state, event, touched);
    case "run_queued":
    case "run_started":
    case "run_completed":
    case "run_failed":
    case "run_interrupted":
      return reduceRun(state, event, touched);
    case "session_created":
    case "session_updated":
    case "session_status":
    case "session_ended":
      return reduceSession(state, event, touched);
    case "subagent_started":
    case "subagent_completed":
      return reduceSubagent(state, event, touched);
    case "approval_requested":
    case "approval_resolved":
    case "approval_rule_withdrawn":
      return reduceApproval(state, event, touched);
    case "artifact_created":
    case "artifact_updated":
    case "artifact_deleted":
    case "port_opened":
    case "port_closed":
    case "file_changed":
    case "version_committed":
      return reduceOutcome(state, event, touched);
    case "metadata_update":
      return reduceSpending(state, event, touched);
    case "retrying":
      state.retrying = { attempt: event.attempt, reason: event.reason, nextAt: event.nextAt };
      touched.add("retrying");
      return;
    case "model_called":
      // The call that failed may be reported after the agent said that it waits for the next one.
      if (event.status >= 400) return;
      if (state.retrying) touched.add("retrying");
      state.retrying = null;
      return;
    case "model_call_started":
    case "egress_decided":
    case "limit_reached":
    case "context_compacted":
    case "unrecognized":
      return;
    default:
      // A kind that this client does not know changes nothing it shows. A kind that the document names must be handled.
      event satisfies never;
  }
}

type Of<T extends Event["type"]> = Extract<Event, { type: T }>;

type BlockEvent = Of<"block_start" | "block_complete" | "text_delta" | "block_update" | "block_discarded">;

/** The block that an event is about; nothing if it is about none. */
export function placeOf(event: Event): Place | null {
  const conversation = event.conversationId ?? MAIN;
  if (event.type === "block_start" || event.type === "block_complete") return { conversation, id: event.block.id };
  const isAbout = event.type === "text_delta" || event.type === "block_update" || event.type === "block_discarded";
  return isAbout ? { conversation, id: event.blockId } : null;
}

/** Whether the block was loaded with this event in it. */
function isCovered(state: SessionState, event: BlockEvent): boolean {
  if (state.covered.length === 0) return false;
  const place = placeOf(event);
  return state.covered.some(({ conversation, ids, until }) =>
    event.seq <= until && conversation === place?.conversation && (ids === null || ids.has(place.id)));
}

function reduceBlock(state: SessionState, event: BlockEvent, touched: Set<Topic>): void {
  const conversation = event.conversationId ?? MAIN;
  if (isCovered(state, event)) return;
  const isNewThread = conversation !== MAIN && !state.threads.has(conversation);
  const thread = threadOf(state, conversation);
  if (isNewThread) touched.add("subagents");
  const changed = (id: string) => touched.add(blockTopic(conversation, id));
  if (event.type === "block_start" || event.type === "block_complete") takeUp(state, event.block, touched);
  switch (event.type) {
    case "block_start":
    case "block_complete":
      if (thread.put(event.block.id, event.block)) {
        touched.add(orderTopic(conversation));
        if (state.cut.has(conversation)) state.unplaced.push({ conversation, id: event.block.id });
      }
      changed(event.block.id);
      return;
    case "text_delta": {
      const block = thread.get(event.blockId);
      const grown = block && grow(block, event.delta);
      if (!grown) return;
      thread.put(event.blockId, grown);
      changed(event.blockId);
      return;
    }
    case "block_update": {
      const block = thread.get(event.blockId);
      const { type: _type, id: _id, ...updates } = event.updates;
      const updated: unknown = block && { ...block, ...updates };
      if (!isBlock(updated)) return;
      thread.put(event.blockId, withoutNulls(updated));
      changed(event.blockId);
      return;
    }
    case "block_discarded":
      if (!thread.remove(event.blockId)) return;
      touched.add(orderTopic(conversation));
      changed(event.blockId);
  }
}

/** A queued message that shows up as a block was taken up by the run in progress: it does not run on its own. */
function takeUp(state: SessionState, block: Block, touched: Set<Topic>): void {
  if (block.type !== "user_message" || !block.id.startsWith(MESSAGE)) return;
  const run = state.runs.get(block.id.slice(MESSAGE.length));
  if (run?.status !== "queued") return;
  state.runs.put(run.runId, { ...run, status: "steered" });
  touched.add("runs");
}

/** What the id of a message's block begins with; the run's id follows. */
const MESSAGE = "msg-";

/** The block with streamed text added, or `null` if it is one that does not grow. */
function grow(block: Block, delta: string): Block | null {
  if (block.type === "assistant_text" || block.type === "thinking") {
    return { ...block, content: block.content + delta };
  }
  if (block.type !== "tool_result") return null;
  if (typeof block.output === "string") return { ...block, output: block.output + delta };
  return block.output === null ? { ...block, output: delta } : null;
}

/** An optional field that was set to nothing is absent, as the server writes it. Free JSON keeps its nulls. */
function withoutNulls(block: Block): Block {
  const free = new Set(["input", "output"]);
  const kept = Object.entries(block).filter(([key, value]) => value !== null || (free.has(key) && key in block));
  const whole = Object.fromEntries(kept) as Block;
  if (whole.type === "subagent" && whole.output === null) delete whole.output;
  return whole;
}

function reduceRun(
  state: SessionState,
  event: Of<"run_queued" | "run_started" | "run_completed" | "run_failed" | "run_interrupted">,
  touched: Set<Topic>,
): void {
  const runId = event.runId;
  if (!runId) return;
  touched.add("runs");
  const before: Run = state.runs.get(runId) ?? { runId, status: "queued", content: "" };
  if (event.type === "run_queued") {
    const waiting = waitingOf(state.runs.values(), state.queue).map((run) => run.runId);
    const others = waiting.filter((id) => id !== runId);
    const isNew = others.length === waiting.length;
    if (isNew && !state.runs.values().some((run) => run.status === "running")) state.queueHeld = false;
    state.queue = others.toSpliced(Math.max(0, event.position - 1), 0, runId);
    state.runs.put(runId, { ...before, content: event.content, queuedAt: before.queuedAt ?? event.timestamp });
    return;
  }
  if (event.type === "run_started") {
    const started = { content: event.input, startedAt: event.timestamp, baseVersion: event.baseVersion };
    state.runs.put(runId, { ...before, ...started, status: "running" });
    state.queueHeld = false;
    return;
  }
  const spent = { usage: event.usage, costUSD: event.costUSD, endedAt: event.timestamp };
  if (state.retrying) touched.add("retrying");
  state.retrying = null;
  if (event.type === "run_failed") {
    const { code, message, recoverable } = event;
    state.runs.put(runId, { ...before, ...spent, status: "failed", error: { code, message, recoverable } });
  } else {
    const status = event.type === "run_completed" ? "completed" : "interrupted";
    state.runs.put(runId, { ...before, ...spent, status, version: event.version ?? undefined });
  }
  state.spending = { ...state.spending, usage: event.usage, costUSD: totalCost(state) };
  touched.add("spending");
}

/** What the run has spent so far; the session's cost is that of all its runs. */
function reduceSpending(state: SessionState, event: Of<"metadata_update">, touched: Set<Topic>): void {
  const run = event.runId && state.runs.get(event.runId);
  if (run) state.runs.put(run.runId, { ...run, usage: event.usage, costUSD: event.costUSD });
  const isMain = (event.conversationId ?? MAIN) === MAIN;
  state.spending = {
    usage: event.usage,
    costUSD: totalCost(state),
    // A subagent has a model and a context of its own.
    model: (isMain ? event.model : null) ?? state.spending.model,
    contextTokens: (isMain ? event.contextTokens : null) ?? state.spending.contextTokens,
  };
  touched.add("spending");
}

export const totalCost = (state: SessionState): number =>
  state.runs.values().reduce((sum, run) => sum + (run.costUSD ?? 0), state.earlierCostUSD);

function reduceSession(
  state: SessionState,
  event: Of<"session_created" | "session_updated" | "session_status" | "session_ended">,
  touched: Set<Topic>,
): void {
  touched.add("session");
  switch (event.type) {
    case "session_created":
      return;
    case "session_updated": {
      const { name, metadata, options, queueHeld } = event.changes;
      if (queueHeld != null) {
        state.queueHeld = queueHeld;
        touched.add("runs");
      }
      if (!state.session) return;
      state.session = {
        ...state.session,
        ...(name != null && { name }),
        ...(metadata != null && { metadata }),
        ...(options != null && { options }),
      };
      return;
    }
    case "session_status":
      state.runtime = event.runtime;
      return;
    case "session_ended":
      state.ended = event.reason;
  }
}

function reduceSubagent(
  state: SessionState,
  event: Of<"subagent_started" | "subagent_completed">,
  touched: Set<Topic>,
): void {
  const conversationId = event.conversationId ?? MAIN;
  touched.add("subagents");
  if (event.type === "subagent_started") {
    threadOf(state, conversationId);
    const { subagentId, name, input, toolUseId, parent, timestamp: startedAt } = event;
    state.subagents.put(conversationId, {
      conversationId, subagentId, name, input, toolUseId, parent, startedAt, status: "running",
    });
    return;
  }
  const known = state.subagents.get(conversationId)
    ?? state.subagents.values().find((subagent) => subagent.subagentId === event.subagentId);
  if (!known) return;
  const { status, timestamp: endedAt } = event;
  state.subagents.put(known.conversationId, {
    ...known, status, endedAt, output: event.output ?? known.output, usage: event.usage ?? undefined,
  });
}

function reduceApproval(
  state: SessionState,
  event: Of<"approval_requested" | "approval_resolved" | "approval_rule_withdrawn">,
  touched: Set<Topic>,
): void {
  touched.add("approvals");
  if (event.type === "approval_requested") {
    const { approvalId, kind, toolUseId, title, detail, options, rules, expiresAt } = event;
    state.approvals.put(approvalId, {
      approvalId, kind, toolUseId, title, detail, options, rules, expiresAt,
      conversationId: event.conversationId ?? MAIN,
      runId: event.runId ?? undefined,
      requestedAt: event.timestamp,
    });
    return;
  }
  const asked = state.approvals.get(event.approvalId);
  if (!asked) return;
  if (event.type === "approval_rule_withdrawn") {
    if (asked.resolution) state.approvals.put(event.approvalId, { ...asked, resolution: { ...asked.resolution, rule: undefined } });
    return;
  }
  const { approvalId, decision, by, message, answers, rule, timestamp: at } = event;
  state.approvals.put(approvalId, { ...asked, resolution: { approvalId, decision, by, message, answers, rule, at } });
}

function reduceOutcome(
  state: SessionState,
  event: Of<
    | "artifact_created" | "artifact_updated" | "artifact_deleted" | "port_opened" | "port_closed" | "file_changed"
    | "version_committed"
  >,
  touched: Set<Topic>,
): void {
  switch (event.type) {
    case "artifact_created":
    case "artifact_updated":
      state.artifacts.put(event.artifact.id, event.artifact);
      state.gone.remove(event.artifact.id);
      touched.add("artifacts");
      return;
    case "artifact_deleted":
      state.artifacts.remove(event.artifact.id);
      state.gone.put(event.artifact.id, event.artifact.id);
      touched.add("artifacts");
      return;
    case "port_opened":
      state.ports.put(String(event.port), { port: event.port, previewUrl: event.previewUrl ?? undefined });
      touched.add("artifacts");
      return;
    case "port_closed":
      state.ports.remove(String(event.port));
      touched.add("artifacts");
      return;
    case "file_changed": {
      const { path, change, seq, timestamp: at } = event;
      // The latest change last, so that a reader can show what happened most recently.
      state.files.remove(path);
      const file = { path, change, sizeBytes: event.sizeBytes ?? undefined, hash: event.hash ?? undefined, at, seq };
      state.files.put(path, file);
      touched.add("files");
      return;
    }
    case "version_committed": {
      const { version, base, cause, blocks, label, seq, timestamp: at } = event;
      const { added = 0, changed = 0, removed = 0 } = event.files;
      const files = { added, changed, removed };
      const runId = event.runId ?? undefined;
      const restored = event.restored ?? undefined;
      state.versions.put(String(version), { version, base, cause, files, blocks, label, restored, runId, seq, at });
      if (state.session) state.session = { ...state.session, version };
      touched.add("versions").add("session");
    }
  }
}
