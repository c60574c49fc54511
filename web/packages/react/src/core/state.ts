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
  /** The version that a restore went back to. */
  restored?: number;
  runId?: RunId;
  seq: number;
  at: string;
};

export type Retrying = { attempt: number; reason: string; nextAt?: string | null };

export type Spending = { usage: Usage | null; costUSD: number; model?: string; contextTokens?: number };

/** A conversation and a block of it. */
export type Place = { conversation: ConversationId; id: string };

/** Blocks that were loaded as they are at a later position: what the log says about them up to there is in them already. */
export type Covered = { conversation: ConversationId; ids: ReadonlySet<string> | null; until: number };

export type SessionState = {
  /** The last number folded. */
  seq: number;
  /** The state began with the newest blocks alone: conversations that were not loaded may have blocks. */
  isPage: boolean;
  /** Conversations whose older blocks were not loaded. */
  cut: Set<ConversationId>;
  /** Threads that events named and whose blocks were not loaded. */
  unread: Set<ConversationId>;
  /** Blocks put at the end of a conversation that is cut. One of them may belong to the part that was not loaded. */
  unplaced: Place[];
  covered: readonly Covered[];
  /** What runs cost that were not loaded. */
  earlierCostUSD: number;
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
  /** Queued messages are held since a person stopped a run: the next message or `resumeQueue` releases them. */
  queueHeld: boolean;
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
  isPage: false,
  cut: new Set(),
  unread: new Set(),
  unplaced: [],
  covered: [],
  earlierCostUSD: 0,
  session: null,
  runtime: null,
  ended: null,
  main: new Shelf(),
  threads: new Shelf(),
  subagents: new Shelf(),
  runs: new Shelf(),
  queue: [],
  queueHeld: false,
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

/** A session as the server gives it, current at its `lastSeq`: whole, or with the newest `limit` blocks of each thread. */
export function stateOf(data: RuntimeSessionData, limit?: number): SessionState {
  const { blocks, subagents, workspaceFiles: _files, queue, queueHeld, previousCursor, ...session } = data;
  const state = emptyState();
  state.seq = session.lastSeq;
  state.isPage = limit !== undefined;
  if (previousCursor != null) state.cut.add(MAIN);
  state.session = session;
  state.runtime = session.runtime;
  state.queue = queue ?? [];
  state.queueHeld = queueHeld ?? false;
  for (const block of blocks) state.main.put(block.id, block);
  for (const thread of subagents) {
    const shelf = threadOf(state, thread.id);
    state.unread.delete(thread.id);
    for (const block of thread.blocks) shelf.put(block.id, block);
    if (limit !== undefined && thread.blocks.length >= limit) state.cut.add(thread.id);
  }
  for (const thread of [state.main, ...state.threads.values()]) rememberSubagents(state, thread);
  return state;
}

/** Runs that wait, the next one first. One of which no place is known is after the others. */
export function waitingOf(runs: readonly Run[], queue: readonly RunId[]): Run[] {
  const place = (run: Run) => (queue.includes(run.runId) ? queue.indexOf(run.runId) : queue.length);
  return runs.filter((run) => run.status === "queued").sort((a, b) => place(a) - place(b));
}

/**
 * The run that ended or began last. A message that steered a run ends with it and never began: the run counts. One that was
 * refused never began either, but ends alone.
 */
export function lastOf(runs: readonly Run[]): Run | null {
  const begun = runs.findLast((run) => run.startedAt !== undefined) ?? null;
  const refused = runs.findLast((run) => run.startedAt === undefined && run.endedAt !== undefined);
  const isLater = refused && (begun === null || (begun.endedAt !== undefined && refused.endedAt! > begun.endedAt));
  return isLater ? refused : begun;
}

function rememberSubagents(state: SessionState, thread: Thread) {
  for (const [id, subagent] of subagentsOf(thread.values())) state.subagents.put(id, subagent);
}

/** Blocks say who was called; what only events say (the parent's thread) comes with later ones. */
export function subagentsOf(blocks: readonly Block[]): [string, SubagentInfo][] {
  return blocks.flatMap((block): [string, SubagentInfo][] => {
    if (block.type !== "subagent") return [];
    const { subagentId, name, input, toolUseId, status, output, timestamp: startedAt } = block;
    const info = { conversationId: subagentId, subagentId, name, input, toolUseId, parent: MAIN, startedAt, status, output };
    return [[subagentId, info]];
  });
}

/** The thread of a conversation; opens it when it is new. */
export function threadOf(state: SessionState, conversation: ConversationId): Thread {
  if (conversation === MAIN) return state.main;
  const known = state.threads.get(conversation);
  if (known) return known;
  const thread: Thread = new Shelf();
  state.threads.put(conversation, thread);
  if (state.isPage) state.unread.add(conversation);
  return thread;
}
