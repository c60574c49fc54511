// A server in memory for tests: a log, streams that can be cut, and a clock that moves when told.
import type { Clock } from "../core/connection";
import { ConnectionError } from "../core/problem";
import type { Call, Feed, Transport } from "../core/transport";
import type { Block, Event, LogLine, SessionsChanged } from "../wire/types";

export const at = "2026-01-01T00:00:00.000Z";

export class FakeClock implements Clock {
  time = 0;
  readonly waits: { at: number; run: () => void }[] = [];
  now = () => this.time;
  random = () => 0.5;
  after = (ms: number, run: () => void) => {
    const wait = { at: this.time + ms, run };
    this.waits.push(wait);
    return () => void this.waits.splice(this.waits.indexOf(wait), this.waits.includes(wait) ? 1 : 0);
  };
  advance(ms: number) {
    this.time += ms;
    for (const wait of this.waits.filter((due) => due.at <= this.time)) {
      this.waits.splice(this.waits.indexOf(wait), 1);
      wait.run();
    }
  }
}

type Open = { after: number; feed: Feed<LogLine> };

export class FakeServer implements Transport {
  readonly log: Event[] = [];
  readonly calls: { path: string; call: Call }[] = [];
  readonly streams: Open[] = [];
  readonly newsFeeds: Feed<SessionsChanged>[] = [];
  isDown = false;
  blocks: Block[] = [];
  answers: Record<string, (call: Call) => unknown> = {};
  loadedSeq = 0;

  record(body: object): Event {
    const event = { seq: this.log.length + 1, sessionId: "s", conversationId: "main", timestamp: at, ...body } as Event;
    this.log.push(event);
    for (const open of this.streams) open.feed.lines([event]);
    return event;
  }

  cut() {
    for (const open of this.streams.splice(0)) open.feed.ended(new ConnectionError("cut"));
  }

  fetch = async (path: string, call: Call = {}): Promise<Response> => {
    this.calls.push({ path, call });
    if (this.isDown) throw new ConnectionError("down");
    const key = `${call.method ?? "GET"} ${path}`;
    const answer = this.answers[key];
    if (answer) return Response.json((await answer(call)) ?? null);
    if (key === "GET /api/sessions/s") return Response.json(this.session(call.query?.limit as number | undefined));
    if (path.endsWith("/runs")) return Response.json({ runs: [] });
    if (path === "/api/approvals") return Response.json({ approvals: [] });
    throw new Error(`the fake has no answer for ${key}`);
  };

  follow = (_session: string, after: number, feed: Feed<LogLine>) => {
    if (this.isDown) {
      queueMicrotask(() => feed.ended(new ConnectionError("down")));
      return () => {};
    }
    const open = { after, feed };
    this.streams.push(open);
    feed.opened();
    const missed = this.log.filter((event) => event.seq > after);
    if (missed.length > 0) feed.lines(missed);
    return () => void this.streams.splice(this.streams.indexOf(open), this.streams.includes(open) ? 1 : 0);
  };

  news = (feed: Feed<SessionsChanged>) => {
    this.newsFeeds.push(feed);
    feed.opened();
    return () => void this.newsFeeds.splice(this.newsFeeds.indexOf(feed), 1);
  };

  session(limit?: number) {
    const blocks = limit === undefined ? this.blocks : this.blocks.slice(-limit);
    return {
      sessionId: "s", type: "builtin", agentProfileReference: "default", createdAt: 0, lastActivity: 0, metadata: {},
      options: {}, projectId: "p", workspaceId: "w", version: 0, lastSeq: this.loadedSeq, runtime: { isLoaded: true },
      blocks, subagents: [] as unknown[], workspaceFiles: [], queue: [],
      ...(blocks.length < this.blocks.length && { previousCursor: blocks[0]?.id }),
    };
  }
}

export const text = (id: string, content: string): Block => ({ type: "assistant_text", id, timestamp: at, content });
export const said = (id: string, content: string): Block => ({ type: "user_message", id, timestamp: at, content });

/** Lets everything that is already resolved happen. */
export const settle = async () => {
  for (let turn = 0; turn < 20; turn += 1) await Promise.resolve();
};
