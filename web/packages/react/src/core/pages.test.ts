import { readFileSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { at, FakeClock, settle, text } from "../testing/fake";
import { FakePages } from "../testing/pages";
import type { Event } from "../wire/types";
import { WarrenClient } from "./client";
import { MAIN, threadOf, type SessionState } from "./state";
import type { SessionStore } from "./store";

const FIXTURES = join(import.meta.dirname, "../../../../../crates/agents/fixtures");

function recordings(folder: string): string[] {
  const names = readdirSync(folder);
  const below = names.map((name) => join(folder, name)).filter((path) => statSync(path).isDirectory());
  return [...(names.includes("out.jsonl") ? [folder] : []), ...below.flatMap(recordings)];
}

const numbered = (bodies: object[]): Event[] =>
  bodies.map((body, index) => ({ sessionId: "s", conversationId: MAIN, timestamp: at, ...body, seq: index + 1 }) as Event);

function eventsOf(name: string): Event[] {
  const lines = readFileSync(join(FIXTURES, name, "out.jsonl"), "utf8").split("\n").filter(Boolean);
  return numbered(lines.map((line) => JSON.parse(line)).filter((line) => "type" in line));
}

async function opened(server: FakePages, pageSize: number) {
  const clock = new FakeClock();
  const client = new WarrenClient({ transport: server, clock, frame: (run) => run(), pageSize });
  const store = client.store("s");
  store.use();
  await settle();
  return { store, clock };
}

const blocks = (state: SessionState, conversation: string) => threadOf(state, conversation).values();

/** The newest part is exactly the server's, and what is older is known to be missing. */
function expectNewest(store: SessionStore, server: FakePages, conversation: string) {
  const mine = blocks(store.state, conversation);
  const all = blocks(server.fold(), conversation);
  expect(mine).toEqual(mine.length === 0 ? [] : all.slice(-mine.length));
  expect(store.earlier(conversation).state).toBe(mine.length === all.length ? "none" : "more");
}

async function loadAll(store: SessionStore, conversation: string) {
  for (let n = 0; n < 100 && store.earlier(conversation).state !== "none"; n += 1) await store.loadEarlier(conversation);
}

async function checked(store: SessionStore, clock: FakeClock) {
  for (let n = 0; n < 20 && store.state.unplaced.length > 0; n += 1) {
    await settle();
    clock.advance(3_000);
  }
  await settle();
}

const found = recordings(FIXTURES).map((path) => path.slice(FIXTURES.length + 1));

describe("a page at any position, and the log after it, give the newest blocks of the whole log", () => {
  test.each(found)("%s", async (name) => {
    const events = eventsOf(name);
    for (const pageSize of [1, 3, 50]) {
      for (let cut = 0; cut <= events.length; cut += 1) {
        const server = new FakePages();
        server.commit(events.slice(0, cut));
        server.tell();
        const { store, clock } = await opened(server, pageSize);
        server.commit(events.slice(cut));
        server.tell();
        await checked(store, clock);
        expectNewest(store, server, MAIN);
        const whole = server.fold();
        for (const id of [MAIN, ...whole.threads.keys()]) {
          await loadAll(store, id);
          expect(blocks(store.state, id)).toEqual(blocks(whole, id));
        }
      }
    }
  });
});

describe("blocks loaded before or after what the stream says about them are the same", () => {
  test.each(found)("%s", async (name) => {
    const events = eventsOf(name);
    const half = Math.floor(events.length / 2);
    for (let head = half; head <= events.length; head += 1) {
      for (const told of new Set([half, Math.floor((half + head) / 2), head])) {
        const server = new FakePages();
        server.commit(events.slice(0, half));
        server.tell();
        const { store, clock } = await opened(server, 2);
        // The answers know the log up to its head, of which the stream has told a part.
        server.commit(events.slice(half, head));
        server.tell(told - half);
        const whole = server.fold();
        const all = [MAIN, ...whole.threads.keys()];
        for (const id of all) await loadAll(store, id);
        server.tell();
        await checked(store, clock);
        for (const id of all) {
          // Of blocks that are all discarded already none leads to those before: it fails, and works when it is known.
          await loadAll(store, id);
          expect(blocks(store.state, id)).toEqual(blocks(whole, id));
        }
        expect(store.state.covered).toEqual([]);
      }
    }
  });
});

const complete = (id: string, content = id) => ({ type: "block_complete", block: text(id, content) });

test("what is said about blocks while their page is on its way is neither lost nor counted twice", async () => {
  const server = new FakePages();
  const events = numbered([complete("a"), complete("b"), complete("c"), { type: "text_delta", blockId: "a", delta: "!" }, { type: "block_discarded", blockId: "b", reason: "retried" }]);
  server.commit(events.slice(0, 3));
  server.tell();
  const { store } = await opened(server, 1);
  const answer = server.answers["GET /api/sessions/s/messages"]!;
  server.answers["GET /api/sessions/s/messages"] = async (call) => {
    const page = answer({ ...call, query: { ...call.query, limit: 50 } });
    server.commit(events.slice(3));
    server.tell();
    return page;
  };
  await store.loadEarlier();
  expect(store.state.main.values()).toEqual([text("a", "a!"), text("c", "c")]);
});

test("what a page has in it already is not folded in again", async () => {
  const server = new FakePages();
  const events = numbered([complete("a"), complete("b"), { type: "text_delta", blockId: "a", delta: "!" }]);
  server.commit(events.slice(0, 2));
  server.tell();
  const { store } = await opened(server, 1);
  server.commit(events.slice(2));
  await store.loadEarlier();
  server.tell();
  expect(store.state.main.values()).toEqual([text("a", "a!"), text("b", "b")]);
});

test("loading earlier blocks that fails says so, and calling again retries", async () => {
  const server = new FakePages();
  server.commit(numbered([complete("a"), complete("b")]));
  server.tell();
  const { store } = await opened(server, 1);
  const seen: string[] = [];
  store.watch("earlier:main", () => seen.push(store.earlier().state));
  server.isDown = true;
  await store.loadEarlier();
  expect(store.earlier()).toMatchObject({ state: "failed" });
  server.isDown = false;
  await store.loadEarlier();
  expect(store.earlier()).toEqual({ state: "none" });
  expect(seen).toEqual(["loading", "failed", "loading", "none"]);
  expect(store.items(MAIN).map((item) => item.id)).toEqual(["a", "b"]);
});

test("a thread that the first page does not name loads when somebody watches it", async () => {
  const server = new FakePages();
  const within = (body: object) => ({ conversationId: "x", ...body });
  server.commit(numbered([
    { type: "subagent_started", conversationId: "x", subagentId: "x", input: "go", parent: MAIN },
    within(complete("x1")), within(complete("x2")), complete("a"), within(complete("x3")),
  ]));
  server.tell();
  const { store } = await opened(server, 2);
  expect(store.state.threads.keys()).toEqual([]);
  store.watch("order:x", () => {});
  await settle();
  expect(blocks(store.state, "x").map((block) => block.id)).toEqual(["x2", "x3"]);
  expect(store.earlier("x")).toEqual({ state: "more" });
});

test("the cost of runs before the page counts, and runs come along with the blocks they made", async () => {
  const server = new FakePages();
  const day = (n: number) => `2026-01-0${n}T00:00:00.000Z`;
  const on = (n: number, id: string) => ({ type: "block_complete", block: { ...text(id, id), timestamp: day(n) } });
  server.commit(numbered([on(1, "a"), on(2, "b"), on(3, "c")]));
  server.tell();
  const run = (n: number) => ({ runId: `r${n}`, sessionId: "s", status: "failed", content: "go", options: {}, createdAt: day(n), seq: n, usage: { costUSD: n } });
  server.answers["GET /api/sessions/s/runs"] = ({ query }) =>
    query?.cursor === "r3" ? { runs: [run(2)], nextCursor: "r2" }
    : query?.cursor === "r2" ? { runs: [run(1)] }
    : { runs: [run(3)], nextCursor: "r3", earlier: { costUSD: 3 } };
  const { store } = await opened(server, 1);
  expect(store.state.spending.costUSD).toBe(6);
  await store.loadEarlier();
  expect(store.state.runs.keys()).toEqual(["r2", "r3"]);
  server.record({ seq: 4, type: "run_completed", runId: "r3", usage: {}, costUSD: 4 });
  expect(store.state.spending.costUSD).toBe(7);
  await store.loadEarlier();
  expect(store.state.runs.keys()).toEqual(["r1", "r2", "r3"]);
  expect(store.state.earlierCostUSD).toBe(0);
});

test("a request that waits since before the page is there", async () => {
  const server = new FakePages();
  server.commit(numbered([complete("a")]));
  server.tell();
  const asked = (approvalId: string, status: string) => ({ approvalId, sessionId: "s", kind: "permission", title: "Run", detail: {}, options: ["allow"], expiresAt: at, requestedAt: at, status });
  server.answers["GET /api/approvals"] = ({ query }) => ({ approvals: query?.status === "pending" ? [asked("old", "pending")] : [asked("new", "pending")] });
  const { store } = await opened(server, 1);
  expect(store.state.approvals.keys().toSorted()).toEqual(["new", "old"]);
});

test("opening reads one page, and the whole session only when asked to", async () => {
  const server = new FakePages();
  server.commit(numbered(Array.from({ length: 200 }, (_, n) => complete(`b${n}`))));
  server.tell();
  const { store } = await opened(server, 50);
  expect(store.state.main.size).toBe(50);
  const whole = new WarrenClient({ transport: server, clock: new FakeClock(), frame: (run) => run(), pageSize: "all" }).store("s");
  whole.use();
  await settle();
  expect([whole.state.main.size, whole.earlier()]).toEqual([200, { state: "none" }]);
});
