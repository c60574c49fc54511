import { expect, test } from "vitest";
import { at, FakeClock, FakeServer, said, settle, text } from "../testing/fake";
import { WarrenClient } from "./client";
import { backoff } from "./connection";

async function started(server = new FakeServer()) {
  const clock = new FakeClock();
  const frames: (() => void)[] = [];
  const client = new WarrenClient({ transport: server, clock, frame: (run) => void frames.push(run) });
  const store = client.store("s");
  const letGo = store.use();
  await settle();
  const draw = () => frames.splice(0).forEach((run) => run());
  draw();
  return { server, clock, store, draw, letGo };
}

test("a session is loaded whole and followed from its number", async () => {
  const server = new FakeServer();
  server.blocks = [text("a", "Hello")];
  server.record({ type: "block_complete", block: text("a", "Hello") });
  server.loadedSeq = 1;
  const { store } = await started(server);
  expect(store.status).toEqual({ state: "ready" });
  expect(server.streams.map((stream) => stream.after)).toEqual([1]);
  server.record({ type: "block_complete", block: text("b", "again") });
  expect(store.state.main.keys()).toEqual(["a", "b"]);
});

test("after a cut it comes back from the last number, and nothing is missed or doubled", async () => {
  const { server, clock, store } = await started();
  server.record({ type: "block_start", block: text("a", "") });
  server.record({ type: "text_delta", blockId: "a", delta: "one " });
  server.isDown = true;
  server.cut();
  expect(store.connection).toMatchObject({ state: "offline", attempt: 1, retryAt: backoff(1, 0.5) });
  server.record({ type: "text_delta", blockId: "a", delta: "two " });
  clock.advance(backoff(1, 0.5));
  await settle();
  expect(store.connection).toMatchObject({ state: "offline", attempt: 2 });
  server.isDown = false;
  clock.advance(backoff(2, 0.5));
  await settle();
  expect(store.connection).toEqual({ state: "live" });
  expect(server.streams.map((stream) => stream.after)).toEqual([2]);
  expect(store.block("main", "a")).toMatchObject({ content: "one two " });
});

test("what arrives twice counts once", async () => {
  const { server, store } = await started();
  server.record({ type: "block_start", block: text("a", "") });
  const delta = server.record({ type: "text_delta", blockId: "a", delta: "x" });
  store.apply([delta, delta]);
  expect(store.block("main", "a")).toMatchObject({ content: "x" });
});

test("a burst of deltas tells the block's watcher once a frame, and nobody else", async () => {
  const { server, store, draw } = await started();
  server.record({ type: "block_start", block: text("a", "") });
  draw();
  const told: string[] = [];
  store.watch("block:main/a", () => told.push("a"));
  store.watch("order:main", () => told.push("order"));
  store.watch("runs", () => told.push("runs"));
  const before = store.items("main");
  for (let n = 0; n < 500; n += 1) server.record({ type: "text_delta", blockId: "a", delta: "." });
  expect(told).toEqual([]);
  draw();
  expect(told).toEqual(["a"]);
  expect(store.items("main")).toBe(before);
});

test("a message shows at once and keeps its key when it is recorded", async () => {
  const { server, store } = await started();
  server.answers["POST /api/sessions/s/messages"] = () => ({ runId: "r", sessionId: "s", seq: 1 });
  const sent = store.send("hello");
  expect(store.pending).toMatchObject([{ content: "hello", state: "sending" }]);
  const key = store.pending[0]?.key;
  await sent;
  expect(store.pending).toMatchObject([{ key, runId: "r", state: "sent" }]);
  server.record({ type: "run_started", runId: "r", input: "hello", baseVersion: 0 });
  server.record({ type: "block_complete", runId: "r", block: said("message-r", "hello") });
  expect(store.pending).toEqual([]);
  expect(store.items("main")).toEqual([{ id: "message-r", key }]);
});

test("a message whose words arrive before the answer to its call is not shown twice", async () => {
  const { server, store } = await started();
  server.answers["POST /api/sessions/s/messages"] = () => {
    server.record({ type: "run_queued", runId: "r", content: "hello", position: 0 });
    server.record({ type: "block_complete", runId: "r", block: said("message-r", "hello") });
    return { runId: "r", sessionId: "s", seq: 1 };
  };
  await store.send("hello");
  expect(store.pending).toEqual([]);
  expect(store.items("main").map((item) => item.id)).toEqual(["message-r"]);
});

test("a message that could not be sent stays, and goes again under the same key", async () => {
  const { server, store } = await started();
  server.isDown = true;
  await expect(store.send("hello")).rejects.toThrow("cannot be reached");
  expect(store.pending).toMatchObject([{ state: "failed" }]);
  server.isDown = false;
  const keys: unknown[] = [];
  server.answers["POST /api/sessions/s/messages"] = (call) => {
    keys.push((call.body as { idempotencyKey: string }).idempotencyKey);
    return { runId: "r", sessionId: "s", seq: 1 };
  };
  const key = store.pending[0]?.key ?? "";
  await store.resend(key);
  expect(keys).toEqual([key]);
  expect(store.pending).toMatchObject([{ key, state: "sent" }]);
});

test("the cost of a session is that of all its runs", async () => {
  const { server, store } = await started();
  const usage = { inputTokens: 1, outputTokens: 1, totalTokens: 2, costUSD: 0 };
  server.record({ type: "run_started", runId: "r1", input: "a", baseVersion: 0 });
  server.record({ type: "run_completed", runId: "r1", usage, costUSD: 0.25 });
  server.record({ type: "run_started", runId: "r2", input: "b", baseVersion: 1 });
  server.record({ type: "metadata_update", runId: "r2", usage, costUSD: 0.5, model: "m" });
  expect(store.state.spending).toMatchObject({ costUSD: 0.75, model: "m" });
  // A subagent spends too, but its context is not the one that is shown.
  server.record({ type: "metadata_update", runId: "r2", conversationId: "sub", usage, costUSD: 0.6, model: "other", contextTokens: 9 });
  expect(store.state.spending).toMatchObject({ costUSD: 0.85, model: "m" });
  expect(store.state.spending.contextTokens).toBeUndefined();
});

test("letting go of a session ends its stream, unless somebody takes hold at once", async () => {
  const { server, clock, store, letGo } = await started();
  letGo();
  const again = store.use();
  clock.advance(1_000);
  await settle();
  expect(server.streams.length).toBe(1);
  again();
  clock.advance(1_000);
  expect(server.streams.length).toBe(0);
});

test("an approval waits until it is resolved", async () => {
  const { server, store } = await started();
  const request = { approvalId: "x", kind: "permission", title: "Run", detail: {}, options: ["allow"], expiresAt: at };
  server.record({ type: "approval_requested", runId: "r", ...request });
  server.record({ type: "approval_resolved", runId: "r", approvalId: "x", decision: "allow", by: "mara" });
  expect(store.state.approvals.values()).toMatchObject([{ approvalId: "x", resolution: { decision: "allow", by: "mara" } }]);
});

test("a run that begins while the session is being read is not missed", async () => {
  const server = new FakeServer();
  const run = { runId: "r", sessionId: "s", status: "queued", content: "go", options: {}, createdAt: at, usage: {}, seq: 1 };
  server.answers["GET /api/sessions/s/runs"] = () => ({ runs: [{ ...run }] });
  server.answers["GET /api/sessions/s"] = async () => {
    await Promise.resolve();
    // The session is read after this, so no event after its number tells of it.
    server.record({ type: "run_started", runId: "r", input: "go", baseVersion: 0 });
    run.status = "running";
    server.loadedSeq = server.log.length;
    return server.session();
  };
  const { store } = await started(server);
  await settle();
  expect(store.state.runs.get("r")?.status).toBe("running");
});
