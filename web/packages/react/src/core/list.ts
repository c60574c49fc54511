// The list of sessions, live: read once, then kept up to date by the server's news.
import type { SessionListItem, SessionsChanged } from "../wire/types";
import type { SessionQuery, WarrenClient } from "./client";
import { Connection, systemClock, type Clock, type ConnectionState } from "./connection";
import { isPassing } from "./problem";
import { soon } from "./reach";
import type { LoadStatus } from "./store";
import { nextFrame, Watchers, type Frame } from "./watchers";

export type ListSnapshot = {
  sessions: readonly SessionListItem[];
  status: LoadStatus;
  connection: ConnectionState;
  hasMore: boolean;
};

export class ListStore {
  #snapshot: ListSnapshot = {
    sessions: [], status: { state: "loading" }, connection: { state: "connecting" }, hasMore: false,
  };
  #cursor: string | undefined;
  #users = 0;
  #generation = 0;
  #stream: Connection<SessionsChanged> | null = null;
  readonly #watchers: Watchers<"list">;
  readonly #clock: Clock;

  constructor(
    private readonly client: WarrenClient,
    private readonly query: SessionQuery,
    options: { frame?: Frame; clock?: Clock } = {},
  ) {
    this.#watchers = new Watchers(options.frame ?? nextFrame);
    this.#clock = options.clock ?? systemClock;
  }

  snapshot = (): ListSnapshot => this.#snapshot;

  /** Tells of changes, and keeps the list live while anybody is told. */
  subscribe = (watcher: () => void): (() => void) => {
    const stop = this.#watchers.watch("list", watcher);
    this.#users += 1;
    if (this.#users === 1 && !this.#stream) this.#start();
    return () => {
      stop();
      this.#users -= 1;
      this.#clock.after(1_000, () => this.#users === 0 && this.#stop());
    };
  };

  retryNow = (): void => {
    if (this.#snapshot.status.state === "failed") void this.read();
    this.#stream?.retryNow();
  };

  /** Reads the list from its beginning. */
  read = async (): Promise<void> => {
    const generation = ++this.#generation;
    try {
      const page = await this.client.sessions(this.query);
      if (generation !== this.#generation) return;
      this.#cursor = page.nextCursor ?? undefined;
      this.#set({ sessions: page.sessions, status: { state: "ready" }, hasMore: this.#cursor !== undefined });
    } catch (error) {
      if (generation !== this.#generation) return;
      this.#set({ status: { state: "failed", error } });
      if (isPassing(error)) soon(() => generation === this.#generation && this.#users > 0 && void this.read());
    }
  };

  readMore = async (): Promise<void> => {
    if (this.#cursor === undefined) return;
    const generation = this.#generation;
    const page = await this.client.sessions({ ...this.query, cursor: this.#cursor });
    if (generation !== this.#generation) return;
    this.#cursor = page.nextCursor ?? undefined;
    const known = new Set(this.#snapshot.sessions.map((session) => session.sessionId));
    const more = page.sessions.filter((session) => !known.has(session.sessionId));
    this.#set({ sessions: [...this.#snapshot.sessions, ...more], hasMore: this.#cursor !== undefined });
  };

  #start() {
    // Subscribe first, then read: what happens in between is told by the stream and read again.
    this.#stream = new Connection<SessionsChanged>(
      (feed) => this.client.transport.news(feed),
      (news) => news.forEach((one) => this.#apply(one)),
      (connection) => {
        this.#set({ connection });
        if (connection.state === "live") void this.read();
      },
      this.#clock,
    );
    this.#stream.start();
    void this.read();
  }

  #stop() {
    this.#generation += 1;
    this.#stream?.close();
    this.#stream = null;
  }

  #apply(news: SessionsChanged) {
    if (news.change === "missed" || !news.sessionId) {
      void this.read();
      return;
    }
    const sessions = placed(this.#snapshot.sessions, news, this.query);
    if (sessions) this.#set({ sessions });
    else void this.read();
  }

  #set(changes: Partial<ListSnapshot>) {
    this.#snapshot = { ...this.#snapshot, ...changes };
    this.#watchers.touch(["list"]);
  }
}

/** The list after one piece of news, or `null` when only the server can tell whether the session belongs in it. */
export function placed(
  sessions: readonly SessionListItem[],
  news: SessionsChanged,
  query: SessionQuery,
): readonly SessionListItem[] | null {
  const rest = sessions.filter((session) => session.sessionId !== news.sessionId);
  if (news.change === "erased" || !news.session) return rest;
  if (query.q || query.state) return null;
  if (query.type && query.type !== news.session.type) return rest;
  const isKnown = rest.length < sessions.length;
  if (!isKnown && news.change !== "created") return null;
  // The list is by activity, newest first.
  const session = news.session;
  const at = rest.findIndex((other) => other.lastActivity <= session.lastActivity);
  return at < 0 ? [...rest, session] : [...rest.slice(0, at), session, ...rest.slice(at)];
}
