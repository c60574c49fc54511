// A server in memory whose answers are folds of its log, as a real one's are.
import { isBlock } from "../core/block";
import { WarrenError } from "../core/problem";
import { reduce } from "../core/reduce";
import { emptyState, MAIN, threadOf, type SessionState } from "../core/state";
import type { Call } from "../core/transport";
import type { Block, Event } from "../wire/types";
import { FakeServer } from "./fake";

export class FakePages extends FakeServer {
  /** Entries that exist, whether or not streams have told them: what answers are current at. */
  committed: Event[] = [];

  constructor() {
    super();
    this.answers["GET /api/sessions/s"] = (call) => this.#session(call);
    this.answers["GET /api/sessions/s/messages"] = (call) => this.#messages(call);
  }

  /** Commits entries; `tell` sends the next of them to those who follow. */
  commit(events: readonly Event[]): void {
    this.committed.push(...events);
  }

  tell(count = Infinity): void {
    const next = this.committed.slice(this.log.length, this.log.length + count);
    this.log.push(...next);
    for (const open of this.streams) if (next.length > 0) open.feed.lines(next);
  }

  fold(): SessionState {
    const state = emptyState();
    for (const event of this.committed) reduce(state, event);
    return state;
  }

  #session({ query = {} }: Call) {
    const limit = query.limit === undefined ? Infinity : Number(query.limit);
    const state = this.fold();
    const newest = (blocks: readonly Block[]) => blocks.slice(-Math.min(limit, blocks.length) || blocks.length);
    const blocks = newest(state.main.values());
    const named = (from: readonly Block[]): string[] => from.flatMap((block) => (block.type === "subagent" ? [block.subagentId] : []));
    const wanted = named(blocks);
    for (const id of wanted) wanted.push(...named(newest(threadOf(state, id).values())).filter((other) => !wanted.includes(other)));
    const given = state.threads.keys().filter((id) => limit === Infinity || wanted.slice(0, limit).includes(id));
    this.loadedSeq = state.seq;
    return {
      ...this.session(), blocks, lastSeq: state.seq,
      subagents: given.map((id) => ({ id, blocks: newest(threadOf(state, id).values()) })),
      previousCursor: blocks.length < state.main.size ? blocks[0]?.id : undefined,
    };
  }

  #messages({ query = {} }: Call) {
    const state = this.fold();
    const blocks = (query.conversationId === MAIN ? state.main : threadOf(state, String(query.conversationId))).values();
    const end = query.before == null ? blocks.length : blocks.findIndex((block) => block.id === query.before);
    if (end < 0) throw new WarrenError(400, { code: "BAD_REQUEST" } as never, `there is no block ${query.before}`);
    const lastSeq = state.seq;
    if (query.only != null) {
      const only = JSON.parse(String(query.only)) as string[];
      return { blocks: blocks.slice(0, end).filter((block) => only.includes(block.id)), lastSeq };
    }
    const start = Math.max(0, end - Number(query.limit));
    const part = blocks.slice(start, end).filter(isBlock);
    return { blocks: part, lastSeq, previousCursor: start > 0 ? part[0]?.id : undefined };
  }
}
