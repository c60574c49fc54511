/** What happened beside the blocks, gathered from what a session's store knows. Pure. */
import { MAIN, type Approval, type PendingMessage, type Run, type SessionState } from "@warren/react";
import { guardsOf, inWords } from "../shell/isolation";
import type { Span } from "./memory";
import type { Thing } from "./things";
import type { Boot, Ended, Saved } from "./Notices";
import type { Mark, Row } from "./rows";

/** What a mark carries. */
export type MarkValue =
  | { is: "approval"; approval: Approval }
  | ({ is: "saved" } & Saved)
  | { is: "made"; version: number; things: readonly Thing[] }
  | ({ is: "ended" } & Ended)
  | { is: "forgotten"; restored: number }
  | ({ is: "boot" } & Boot)
  | { is: "retrying"; attempt: number; reason: string; nextAt: number | null }
  | { is: "unsent"; message: PendingMessage };

export type PageMark = Mark<MarkValue>;
export type PageRow = Row<MarkValue>;

/** A version as a conversation shows it, wherever it was learned. */
export type VersionFact = Saved & { at: number; seq: number; runId?: string };

const NOTHING: ReadonlyMap<number, readonly Thing[]> = new Map();

/** Gathers marks and keeps those that did not change, so that their rows do not either. */
export class MarkBuilder {
  private known = new Map<string, PageMark>();
  private last: readonly PageMark[] = [];

  /** All marks of a session in the order of time. The same list until one of them changes. */
  build(state: SessionState, versions: readonly VersionFact[], pending: readonly PendingMessage[], made: ReadonlyMap<number, readonly Thing[]> = NOTHING, forgotten: readonly Span[] = []): readonly PageMark[] {
    // What belongs to the part that was not loaded comes with it.
    const since = state.cut.has(MAIN) ? Date.parse(state.main.values()[0]?.timestamp ?? "") || -Infinity : -Infinity;
    const all = [
      ...state.approvals.values().map((approval) => this.asked(approval, since)),
      ...versions.filter((version) => version.version > 0).flatMap((version) => this.saved(version, made.get(version.version))),
      ...state.runs.values().flatMap((run) => this.ended(run, state)),
      ...forgotten.map(({ from, to, restored }) => this.keep(`forgotten-${to}`, from, { is: "forgotten", restored })),
      // What has no time yet comes last, in this order: a message, then the sandbox that starts for it.
      ...pending.filter((message) => !isElsewhere(message, state)).map((message) => this.keep(message.key, Infinity, { is: "unsent", message })),
      ...this.boot(state),
      ...this.retrying(state),
    ].filter((mark) => mark.at >= since).sort((a, b) => (a.at === b.at ? 0 : a.at - b.at));
    this.known = new Map(all.map((mark) => [mark.key, mark]));
    if (all.length !== this.last.length || all.some((mark, at) => mark !== this.last[at])) this.last = all;
    return this.last;
  }

  /** A request; one that waits is always shown: at the end, if its place was not loaded. */
  private asked(approval: Approval, since: number): PageMark {
    const requested = Date.parse(approval.requestedAt);
    const at = requested < since && !approval.resolution ? Infinity : requested;
    return this.keep(`ask-${approval.approvalId}`, at, { is: "approval", approval }, approval.toolUseId ?? null);
  }

  /** A version, and before it what was made in it. */
  private saved({ seq: _, ...version }: VersionFact, things: readonly Thing[] | undefined): PageMark[] {
    const saved = this.keep(`v-${version.version}`, version.at, { is: "saved", ...version });
    return things ? [this.keep(`made-${version.version}`, version.at, { is: "made", version: version.version, things }), saved] : [saved];
  }

  private ended(run: Run, state: SessionState): PageMark[] {
    if ((run.status !== "failed" && run.status !== "interrupted") || !run.endedAt || !run.startedAt) return [];
    const version = run.baseVersion ?? state.session?.version ?? 0;
    const isLatest = state.runs.values().findLast((one) => one.status !== "queued")?.runId === run.runId;
    const value: MarkValue = { is: "ended", how: run.status, code: run.error?.code, message: run.error?.message, version, isLatest };
    return [this.keep(`end-${run.runId}`, Date.parse(run.endedAt), value)];
  }

  private boot(state: SessionState): PageMark[] {
    const run = state.runs.values().findLast((one) => one.status === "running");
    if (!run?.startedAt || hasSpoken(state, run)) return [];
    const sandbox = state.runtime?.sandbox;
    const ready = sandbox?.status === "ready" ? guardsOf(sandbox.isolation) : null;
    const value: MarkValue = { is: "boot", since: Date.parse(run.startedAt), message: sandbox?.statusMessage ?? null, done: false, guards: ready && inWords(ready) };
    return [this.keep(`boot-${run.runId}`, Infinity, value)];
  }

  private retrying(state: SessionState): PageMark[] {
    const { retrying } = state;
    if (!retrying) return [];
    const value: MarkValue = { is: "retrying", attempt: retrying.attempt, reason: retrying.reason, nextAt: retrying.nextAt ? Date.parse(retrying.nextAt) : null };
    return [this.keep("retrying", Infinity, value)];
  }

  private keep(key: string, at: number, value: MarkValue, toolUseId: string | null = null): PageMark {
    const before = this.known.get(key);
    if (before && before.at === at && sameValue(before.value, value)) return before;
    if (value.is === "approval") return { mark: "approval", key, at, toolUseId, value };
    const mark = { saved: "saved", made: "made", ended: "ended", forgotten: "forgotten", boot: "boot", retrying: "retry", unsent: "pending" } as const;
    return { mark: mark[value.is], key, at, value };
  }
}

/** Whether a run has said anything beyond the message that began it. */
function hasSpoken(state: SessionState, run: Run): boolean {
  const last = state.main.values().at(-1);
  return last !== undefined && last.type !== "user_message" && Date.parse(last.timestamp) >= Date.parse(run.startedAt!) - 50;
}

/** A message that waits for its turn is shown above the composer, not in the conversation. */
export function isElsewhere(message: PendingMessage, state: SessionState): boolean {
  if (message.state === "failed") return false;
  const run = message.runId === undefined ? undefined : state.runs.get(message.runId);
  // A run that is over and left no block was taken back before its turn.
  return run !== undefined && run.status !== "running";
}

function sameValue(a: MarkValue, b: MarkValue): boolean {
  if (a.is === "approval" && b.is === "approval") return a.approval === b.approval;
  if (a.is === "unsent" && b.is === "unsent") return a.message === b.message;
  return JSON.stringify(a) === JSON.stringify(b);
}
