// Loads what a session's first page left out: older blocks, threads that nobody has looked at, older runs and requests.
import type { LogLine, MessagePage } from "../wire/types";
import type { WarrenClient } from "./client";
import type { Clock } from "./connection";
import { approvalOf, approvalsSince, runOf, runsSince } from "./items";
import { currentAt, putEarlier, putNewest, removeOlder } from "./pages";
import { isFinal, WarrenError } from "./problem";
import { totalCost, type Topic } from "./reduce";
import { MAIN, type SessionState } from "./state";

/** Whether there are blocks before the oldest loaded one, and how their loading stands. */
export type EarlierStatus =
  | { state: "none" }
  | { state: "more" }
  | { state: "loading" }
  | { state: "failed"; error: unknown };

export type EarlierTopic = Topic | `earlier:${string}`;

/** What is needed of a session's store. */
export type Host = {
  readonly client: WarrenClient;
  readonly sessionId: string;
  readonly clock: Clock;
  readonly pageSize: number;
  readonly state: SessionState;
  readonly log: readonly LogLine[];
  /** Whether `log` has every line after this position. */
  remembers: (position: number) => boolean;
  touch: (topics: Iterable<EarlierTopic>) => void;
};

const NONE: EarlierStatus = { state: "none" };
const MORE: EarlierStatus = { state: "more" };
const LOADING: EarlierStatus = { state: "loading" };

/** How often blocks at the end are compared with the server's order, at most. */
const CHECK_MS = 3_000;
/** How many are compared at once: as many as the route takes. */
const CHECKED_AT_ONCE = 100;
/** Longer lists of ids do not fit into an address. */
const MAX_LIST_LENGTH = 4_000;
/** How often a page is read that is older than what is remembered of the log. */
const TRIES = 5;

export type Cursors = { runs?: string | null; approvals?: string | null };

export class Earlier {
  readonly #status = new Map<string, EarlierStatus>();
  readonly #loading = new Map<string, Promise<void>>();
  #isChecking = false;
  /** How often in a row the server refused to compare. */
  #refusals = 0;
  #isOver = false;

  constructor(private readonly host: Host, private readonly cursors: Cursors = {}) {}

  /** What is loading now comes too late. */
  end(): void {
    this.#isOver = true;
  }

  status(conversation: string): EarlierStatus {
    const known = this.#status.get(conversation);
    if (known) return known;
    return this.#isWanting(conversation) ? MORE : NONE;
  }

  /** Whether a thread's newest blocks are still to be loaded. */
  isUnread(conversation: string): boolean {
    const { state } = this.host;
    return conversation !== MAIN && state.isPage && (state.unread.has(conversation) || !state.threads.has(conversation));
  }

  /** Loads the part before the oldest known block, or the newest part of a thread that was not read. Never rejects. */
  load(conversation: string): Promise<void> {
    const running = this.#loading.get(conversation);
    if (running) return running;
    if (!this.#isWanting(conversation)) return Promise.resolve();
    const work = this.#load(conversation).finally(() => this.#loading.delete(conversation));
    this.#loading.set(conversation, work);
    return work;
  }

  /** Asks the server about blocks whose place is not certain, now and then. */
  check(): void {
    if (this.#isChecking || this.#isOver || this.host.state.unplaced.length === 0) return;
    this.#isChecking = true;
    void this.#check().finally(() => {
      this.host.clock.after(CHECK_MS, () => {
        this.#isChecking = false;
        this.check();
      });
    });
  }

  #isWanting(conversation: string): boolean {
    return this.host.state.cut.has(conversation) || this.isUnread(conversation);
  }

  async #load(conversation: string) {
    this.#set(conversation, LOADING);
    try {
      const isUnread = this.isUnread(conversation);
      const page = await this.#page(conversation, isUnread);
      const put = conversation === MAIN ? await this.#beside(page) : () => {};
      if (this.#isOver) return;
      const { state, log } = this.host;
      const touched = new Set<Topic>();
      (isUnread ? putNewest : putEarlier)(state, conversation, page, log, touched);
      put();
      this.#status.delete(conversation);
      this.host.touch([...touched, `earlier:${conversation}`, ...(conversation === MAIN ? MARKS : [])]);
      this.check();
    } catch (error) {
      if (!this.#isOver) this.#set(conversation, { state: "failed", error });
    }
  }

  async #page(conversation: string, isUnread: boolean): Promise<MessagePage> {
    const { client, sessionId, pageSize } = this.host;
    for (let attempt = 0, skipped = 0; ; attempt += 1) {
      const before = isUnread ? undefined : this.#ids(conversation)[skipped];
      const query = { conversationId: conversation, order: "newest" as const, before, limit: pageSize };
      try {
        const page = await client.messages(sessionId, query);
        if (this.host.remembers(currentAt(page, this.host.state)) || this.#isOver) return page;
        if (attempt >= TRIES) throw new Error("The conversation changes faster than it can be read.");
      } catch (error) {
        // The block was discarded, and the stream has not said so yet: a later one leads to the same part.
        const isGone = error instanceof WarrenError && error.code === "BAD_REQUEST" && before !== undefined;
        if (!isGone || attempt >= TRIES) throw error;
        skipped = Math.min(skipped * 2 + 1, Math.max(0, this.#ids(conversation).length - 1));
      }
    }
  }

  #ids(conversation: string): readonly string[] {
    const { state } = this.host;
    return (conversation === MAIN ? state.main : state.threads.get(conversation))?.keys() ?? [];
  }

  /** Runs and requests that belong beside these blocks. Gives what puts them into the state. */
  async #beside(page: MessagePage): Promise<() => void> {
    const { client, sessionId, state } = this.host;
    const since = page.previousCursor == null ? -Infinity : Date.parse(page.blocks[0]?.timestamp ?? "");
    const isReached = (at: string | undefined) => at !== undefined && Date.parse(at) <= since;
    const [runs, approvals] = await Promise.all([
      isReached(state.runs.values()[0]?.queuedAt) ? null : runsSince(client, sessionId, since, this.cursors.runs ?? null),
      isReached(state.approvals.values()[0]?.requestedAt) ? null : approvalsSince(client, sessionId, since, this.cursors.approvals ?? null),
    ]);
    return () => {
      const before = totalCost(state);
      if (runs) {
        this.cursors.runs = runs.next;
        state.runs.lead(runs.items.reverse().map((one) => [one.runId, runOf(one)]));
        state.earlierCostUSD = runs.next === null ? 0 : Math.max(0, state.earlierCostUSD - (totalCost(state) - before));
      }
      if (!approvals) return;
      this.cursors.approvals = approvals.next;
      state.approvals.lead(approvals.items.reverse().map((one) => [one.approvalId, approvalOf(one)]));
    };
  }

  async #check() {
    const { client, sessionId, state } = this.host;
    const conversation = state.unplaced[0]?.conversation;
    if (conversation === undefined) return;
    const unplaced = state.unplaced.filter((place) => place.conversation === conversation).map((place) => place.id);
    const ids = unplaced.slice(0, CHECKED_AT_ONCE);
    while (ids.length > 1 && JSON.stringify(ids).length > MAX_LIST_LENGTH) ids.length = Math.ceil(ids.length / 2);
    const query = { conversationId: conversation, before: this.#ids(conversation)[0], only: JSON.stringify(ids) };
    try {
      const page = await client.messages(sessionId, query);
      if (this.#isOver) return;
      const touched = new Set<Topic>();
      removeOlder(state, conversation, ids, page.blocks, touched);
      this.#refusals = 0;
      this.host.touch(touched);
    } catch (error) {
      // The oldest block may be discarded, which the stream will say: the next round asks again, but not for ever.
      if (!isFinal(error) || this.#isOver) return;
      this.#refusals += 1;
      if (this.#refusals >= TRIES) removeOlder(state, conversation, ids, [], new Set());
    }
  }

  #set(conversation: string, status: EarlierStatus) {
    this.#status.set(conversation, status);
    this.host.touch([`earlier:${conversation}`]);
  }
}

const MARKS: readonly Topic[] = ["runs", "approvals", "spending"];
