// Everything known of one session, as a fold of its log.
import type { Artifact, FileCounts, VersionCause } from "../wire/contract";
import type {
  ApprovalRequest, ApprovalResolution, Block, Content, ConversationId, RunId, RuntimeSessionData, SessionListItem,
  SessionRuntimeState, SubagentStarted, Usage,
} from "../wire/types";
import { Shelf } from "./shelf";

export const MAIN: ConversationId = "main";

export type Thread = Shelf<Block>;

export type RunStatus = "queued" | "running" | "completed" | "failed" | "interrupted" | "steered";

export type Run = {
  runId: RunId;
  status: RunStatus;
  content: Content;
  queuedAt?: string;
  startedAt?: string;
  endedAt?: string;
  baseVersion?: number;
  version?: number;
  usage?: Usage;
  costUSD?: number;
  error?: { code: string; message: string; recoverable: boolean };
};

export type Approval = ApprovalRequest & {
  conversationId: ConversationId;
  runId?: RunId;
  requestedAt: string;
  resolution?: ApprovalResolution & { at: string };
};

export type SubagentInfo = SubagentStarted & {
  conversationId: ConversationId;
  startedAt: string;
  status: "running" | "success" | "error" | "pending";
  endedAt?: string;
  output?: unknown;
  usage?: Usage;
};

/** A file of the workspace that changed while somebody watched. */
export type FileNews = {
  path: string;
  change: "created" | "modified" | "deleted";
  sizeBytes?: number;
  hash?: string;
  at: string;
  seq: number;
};

export type VersionNews = {
  version: number;
  base: number;
  cause: VersionCause;
  files: FileCounts;
  blocks: number;
  label?: string | null;
  runId?: RunId;
  seq: number;
  at: string;
};

export type Retrying = { attempt: number; reason: string; nextAt?: string | null };

export type Spending = { usage: Usage | null; costUSD: number; model?: string; contextTokens?: number };

export type SessionState = {
  /** The last number folded. */
  seq: number;
  session: SessionListItem | null;
  runtime: SessionRuntimeState | null;
  ended: string | null;
  main: Thread;
  /** Subagents' threads, in the order in which they opened. */
  threads: Shelf<Thread>;
  subagents: Shelf<SubagentInfo>;
  runs: Shelf<Run>;
  /** Runs in the order in which they wait, the next one first; some may wait no more. See `waitingOf`. */
  queue: readonly RunId[];
  spending: Spending;
  approvals: Shelf<Approval>;
  files: Shelf<FileNews>;
  artifacts: Shelf<Artifact>;
  /** Ids of artifacts that were deleted while somebody watched. */
  gone: Shelf<string>;
  ports: Shelf<{ port: number; previewUrl?: string }>;
  versions: Shelf<VersionNews>;
  retrying: Retrying | null;
  compacted: readonly { from: number; to: number }[];
};

export const emptyState = (): SessionState => ({
  seq: 0,
  session: null,
  runtime: null,
  ended: null,
  main: new Shelf(),
  threads: new Shelf(),
  subagents: new Shelf(),
  runs: new Shelf(),
  queue: [],
  spending: { usage: null, costUSD: 0 },
  approvals: new Shelf(),
  files: new Shelf(),
  artifacts: new Shelf(),
  gone: new Shelf(),
  ports: new Shelf(),
  versions: new Shelf(),
  retrying: null,
  compacted: [],
});

/** A session as the server gives it whole: true at its `lastSeq`. */
export function stateOf(data: RuntimeSessionData): SessionState {
  const { blocks, subagents, workspaceFiles: _files, queue, ...session } = data;
  const state = emptyState();
  state.seq = session.lastSeq;
  state.session = session;
  state.runtime = session.runtime;
  state.queue = queue ?? [];
  for (const block of blocks) state.main.put(block.id, block);
  for (const thread of subagents) {
    const shelf = threadOf(state, thread.id);
    for (const block of thread.blocks) shelf.put(block.id, block);
  }
  for (const thread of [state.main, ...state.threads.values()]) rememberSubagents(state, thread);
  return state;
}

/** Runs that wait, the next one first. One of which no place is known is after the others. */
export function waitingOf(runs: readonly Run[], queue: readonly RunId[]): Run[] {
  const place = (run: Run) => (queue.includes(run.runId) ? queue.indexOf(run.runId) : queue.length);
  return runs.filter((run) => run.status === "queued").sort((a, b) => place(a) - place(b));
}

/** Blocks say who was called; what only events say (the parent's thread) comes with later ones. */
function rememberSubagents(state: SessionState, thread: Thread) {
  for (const block of thread.values()) {
    if (block.type !== "subagent") continue;
    state.subagents.put(block.subagentId, {
      conversationId: block.subagentId,
      subagentId: block.subagentId,
      name: block.name,
      input: block.input,
      toolUseId: block.toolUseId,
      parent: MAIN,
      startedAt: block.timestamp,
      status: block.status,
      output: block.output,
    });
  }
}

/** The thread of a conversation; opens it when it is new. */
export function threadOf(state: SessionState, conversation: ConversationId): Thread {
  if (conversation === MAIN) return state.main;
  const known = state.threads.get(conversation);
  if (known) return known;
  const thread: Thread = new Shelf();
  state.threads.put(conversation, thread);
  return thread;
}
