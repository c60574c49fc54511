// One live session: loads its newest part, follows its log from there, and tells those who watch a part.
import type { Block, Content, LogLine, MessageSend } from "../wire/types";
import type { WarrenClient } from "./client";
import { Connection, systemClock, type Clock, type ConnectionState } from "./connection";
import { Earlier, type Cursors, type EarlierStatus } from "./earlier";
import { approvalOf, besideOf, runOf, type Beside } from "./items";
import { announcedBy, confirmedBy, type PendingMessage } from "./pending";
import { isFinal, isPassing, WarrenError } from "./problem";
import { soon } from "./reach";
import { reduce, totalCost, type Topic } from "./reduce";
import { emptyState, MAIN, stateOf, type SessionState } from "./state";
import { nextFrame, Watchers, type Frame } from "./watchers";

export type StoreTopic = Topic | `earlier:${string}` | "status" | "connection" | "pending" | "log";

export type LoadStatus = { state: "loading" } | { state: "ready" } | { state: "failed"; error: unknown };

export type Item = { key: string; id: string };

export type StoreOptions = {
  frame?: Frame;
  clock?: Clock;
  /** How many blocks of a conversation are loaded at a time, up to 500; `all`: the whole session at once. */
  pageSize?: number | "all";
};

const PAGE_SIZE = 50;
/** The server gives no more at once. */
const MAX_PAGE_SIZE = 500;

/** Lines kept for those who watch the log itself. */
const KEPT_LINES = 5_000;

export class SessionStore {
  state: SessionState = emptyState();
  status: LoadStatus = { state: "loading" };
  connection: ConnectionState = { state: "connecting" };
  pending: readonly PendingMessage[] = [];
  /** Lines that arrived while somebody watched, oldest first. */
  log: readonly LogLine[] = [];
  readonly #keys = new Map<string, string>();
  readonly #items = new Map<string, { ids: readonly string[]; items: readonly Item[] }>();
  readonly #watchers: Watchers<StoreTopic>;
  readonly #clock: Clock;
  readonly #pageSize: number | undefined;
  #earlier: Earlier;
  #loadedSeq = 0;
  #stream: Connection<LogLine> | null = null;
  #users = 0;
  #generation = 0;

  constructor(readonly client: WarrenClient, readonly sessionId: string, options: StoreOptions = {}) {
    this.#watchers = new Watchers(options.frame ?? nextFrame);
    this.#clock = options.clock ?? systemClock;
    const size = options.pageSize ?? PAGE_SIZE;
    this.#pageSize = size === "all" ? undefined : Math.min(MAX_PAGE_SIZE, Math.max(1, size));
    this.#earlier = this.#newEarlier();
  }

  /** Keeps the session live until the returned function is called. */
  use(): () => void {
    this.#users += 1;
    if (this.#users === 1) this.#start();
    let isDone = false;
    return () => {
      if (isDone) return;
      isDone = true;
      this.#users -= 1;
      // A page that moves between two views of one session lets go and takes hold in one breath.
      this.#clock.after(1_000, () => this.#users === 0 && this.#stop());
    };
  }

  /** Whoever watches the order of a thread that was not loaded makes it load. */
  watch = (topic: StoreTopic, watcher: () => void): (() => void) => {
    this.#want(topic);
    return this.#watchers.watch(topic, watcher);
  };

  /** Whether a conversation has blocks before the oldest one here, and how their loading stands. */
  earlier(conversation: string = MAIN): EarlierStatus {
    return this.#earlier.status(conversation);
  }

  /** Loads the part of a conversation before the oldest block here. A failure is in `earlier`; calling again retries. */
  loadEarlier(conversation: string = MAIN): Promise<void> {
    return this.#earlier.load(conversation);
  }

  block(conversation: string, id: string): Block | undefined {
    return (conversation === MAIN ? this.state.main : this.state.threads.get(conversation))?.get(id);
  }

  /** The blocks of a thread in order. A message sent from here keeps the key it had before it was recorded. */
  items(conversation: string): readonly Item[] {
    const thread = conversation === MAIN ? this.state.main : this.state.threads.get(conversation);
    const ids = thread?.keys() ?? [];
    const known = this.#items.get(conversation);
    if (known?.ids === ids || (known && ids.length === 0 && known.items.length === 0)) return known.items;
    const items = ids.map((id) => ({ id, key: this.#keys.get(id) ?? id }));
    this.#items.set(conversation, { ids, items });
    return items;
  }

  async send(content: Content, options: Omit<MessageSend, "content" | "idempotencyKey"> = {}, key: string = newKey()) {
    const message: PendingMessage = { key, content, at: this.#clock.now(), whenBusy: options.whenBusy, state: "sending" };
    this.#setPending([...this.pending.filter((other) => other.key !== key), message]);
    try {
      const accepted = await this.client.send(this.sessionId, { ...options, content, idempotencyKey: key });
      this.#changePending(key, { runId: accepted.runId, state: "sent" });
      return accepted;
    } catch (error) {
      this.#changePending(key, { state: "failed", error });
      throw error;
    }
  }

  /** Sends a message that failed once more, under its old key: the server takes it once. */
  resend(key: string, options: Omit<MessageSend, "content" | "idempotencyKey"> = {}) {
    const message = this.pending.find((other) => other.key === key);
    if (!message) throw new Error("there is no such message");
    return this.send(message.content, options, key);
  }

  discard(key: string): void {
    this.#setPending(this.pending.filter((message) => message.key !== key));
  }

  retryNow(): void {
    if (this.status.state === "failed") this.#start();
    else this.#stream?.retryNow();
  }

  /** Folds lines as if they had just arrived. What was folded before is left out. */
  apply(lines: readonly LogLine[]): void {
    const touched = new Set<StoreTopic>();
    const fresh = lines.filter((line) => (line.type === "log_compacted" ? line.to : line.seq) > this.state.seq);
    for (const line of fresh) {
      reduce(this.state, line, touched as Set<Topic>);
      if (line.type !== "log_compacted") this.#settle(line, touched);
    }
    if (fresh.length === 0) return;
    this.log = [...this.log, ...fresh].slice(-KEPT_LINES);
    this.#watchers.touch(touched.add("log"));
    this.#earlier.check();
  }

  /** Whether `log` has every line after this position. */
  #remembers(position: number): boolean {
    const first = this.log.length < KEPT_LINES ? undefined : this.log[0];
    const begin = first === undefined ? 0 : (first.type === "log_compacted" ? first.from : first.seq) - 1;
    return position >= Math.max(begin, this.#loadedSeq);
  }

  #newEarlier(cursors?: Cursors): Earlier {
    const store = this;
    const { client, sessionId } = this;
    return new Earlier({
      client, sessionId, clock: this.#clock, pageSize: this.#pageSize ?? PAGE_SIZE,
      get state() { return store.state; },
      get log() { return store.log; },
      remembers: (position) => this.#remembers(position),
      touch: (topics) => this.#watchers.touch(topics),
    }, cursors);
  }

  #want(topic: StoreTopic) {
    if (this.status.state !== "ready" || !topic.startsWith("order:")) return;
    const conversation = topic.slice("order:".length);
    if (this.#earlier.isUnread(conversation)) void this.#earlier.load(conversation);
  }

  #settle(event: Exclude<LogLine, { type: "log_compacted" }>, touched: Set<StoreTopic>) {
    if (this.pending.length === 0) return;
    const announced = announcedBy(this.pending, event);
    if (announced && event.runId) {
      this.#changePending(announced.key, { runId: event.runId });
      touched.add("pending");
    }
    const confirmed = confirmedBy(this.pending, event);
    if (confirmed && (event.type === "block_start" || event.type === "block_complete")) {
      this.#keys.set(event.block.id, confirmed.key);
      this.#items.delete(MAIN);
      this.pending = this.pending.filter((message) => message !== confirmed);
      touched.add("pending");
    }
  }

  #start() {
    this.#generation += 1;
    void this.#load(this.#generation);
  }

  async #load(generation: number) {
    const isCurrent = () => generation === this.#generation && this.#users > 0;
    try {
      // The session first, because its number is where following begins: runs and approvals read before it could miss
      // what happened in between, which no event tells again. Read after it they are as new or newer, and events that
      // they already know change nothing in the end.
      const limit = this.#pageSize && Math.min(MAX_PAGE_SIZE, Math.max(this.#pageSize, this.state.main.size));
      const data = await this.client.session(this.sessionId, { limit });
      const beside = await besideOf(this.client, data);
      if (!isCurrent()) return;
      this.#earlier.end();
      this.#earlier = this.#newEarlier({ runs: beside.runs.next, approvals: beside.approvals.next });
      this.#loaded(stateOf(data, limit), beside);
    } catch (error) {
      if (!isCurrent()) return;
      this.#setStatus({ state: "failed", error });
      const again = () => isCurrent() && this.#start();
      if (isPassing(error)) soon(again);
      else if (!isFinal(error)) this.#clock.after(3_000, again);
    }
  }

  #loaded(state: SessionState, { runs, approvals, waiting, earlierCostUSD }: Beside) {
    this.state = state;
    this.#loadedSeq = state.seq;
    state.earlierCostUSD = earlierCostUSD;
    for (const run of runs.items.toReversed()) state.runs.put(run.runId, runOf(run));
    const byTime = [...approvals.items, ...waiting].map(approvalOf).sort((a, b) => Date.parse(a.requestedAt) - Date.parse(b.requestedAt));
    for (const approval of byTime) state.approvals.put(approval.approvalId, approval);
    const usage = runs.items.find((run) => run.status !== "queued")?.usage ?? null;
    // A run of several models names none; then the blocks say who spoke last.
    const spoke = state.main.values().findLast((block) => block.type === "assistant_text" && block.model != null);
    const model = usage?.model ?? (spoke?.type === "assistant_text" ? spoke.model : undefined) ?? undefined;
    this.state.spending = { usage, costUSD: totalCost(this.state), model };
    this.#items.clear();
    this.#setStatus({ state: "ready" });
    this.#watchers.touchAll();
    for (const topic of this.#watchers.topics()) this.#want(topic);
    this.#follow();
  }

  #follow() {
    this.#stream?.close();
    this.#stream = new Connection<LogLine>(
      (feed) => this.client.transport.follow(this.sessionId, this.state.seq, feed),
      (lines) => this.apply(lines),
      (state) => this.#onConnection(state),
      this.#clock,
    );
    this.#stream.start();
  }

  #onConnection(state: ConnectionState) {
    // A log that ends before what we saw is another log: begin again.
    if (state.state === "refused" && state.error instanceof WarrenError && state.error.code === "BAD_REQUEST") {
      this.#stream?.close();
      this.#start();
      return;
    }
    this.connection = state;
    this.#watchers.touch(["connection"]);
  }

  #stop() {
    this.#generation += 1;
    this.#stream?.close();
    this.#stream = null;
  }

  #setStatus(status: LoadStatus) {
    this.status = status;
    this.#watchers.touch(["status"]);
  }

  #setPending(pending: readonly PendingMessage[]) {
    this.pending = pending;
    this.#watchers.touch(["pending"]);
  }

  #changePending(key: string, changes: Partial<PendingMessage>) {
    this.#setPending(this.pending.map((message) => (message.key === key ? { ...message, ...changes } : message)));
  }
}

const newKey = (): string => crypto.randomUUID();
