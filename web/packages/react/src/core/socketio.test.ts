import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { eventOf, refused } from "./socketio";

const envelope = { seq: 4, sessionId: "s", conversationId: "main", timestamp: "t", runId: "r" };

test("every message of the socket is the entry it was made from", () => {
  const block = { type: "assistant_text", id: "a", timestamp: "t", content: "x" };
  const cases: [string, object, object][] = [
    ["session:block:start", { block }, { type: "block_start", block }],
    ["session:block:delta", { blockId: "a", delta: "x" }, { type: "text_delta", blockId: "a", delta: "x" }],
    ["session:block:complete", { blockId: "a", block }, { type: "block_complete", block }],
    ["session:block:update", { blockId: "a", updates: {}, discarded: true, reason: "retried" }, { type: "block_discarded", blockId: "a", reason: "retried" }],
    ["session:block:update", { blockId: null, updates: { retrying: { attempt: 2, reason: "busy" } } }, { type: "retrying", attempt: 2, reason: "busy" }],
    ["session:run:started", { input: "x", baseVersion: 1 }, { type: "run_started", input: "x", baseVersion: 1 }],
    ["session:file:deleted", { path: "p", file: { path: "p" } }, { type: "file_changed", change: "deleted", path: "p" }],
    ["session:status", { runtime: { isLoaded: true } }, { type: "session_status", runtime: { isLoaded: true } }],
    ["session:status", { runtime: { isLoaded: true }, ended: true, reason: "done" }, { type: "session_ended", reason: "done" }],
    ["session:metadata:update", { metadata: { usage: {}, costUSD: 1 } }, { type: "metadata_update", usage: {}, costUSD: 1 }],
    ["session:approval:requested", { approval: { approvalId: "x" } }, { type: "approval_requested", approvalId: "x" }],
    ["session:subagent:discovered", { subagentId: "k", subagent: { subagentId: "k", parent: "main" } }, { type: "subagent_started", subagentId: "k", parent: "main" }],
    ["session:version:committed", { version: 2, base: 1 }, { type: "version_committed", version: 2, base: 1 }],
    ["session:port:opened", { port: 5173 }, { type: "port_opened", port: 5173 }],
  ];
  for (const [name, payload, body] of cases) {
    expect(eventOf(name, { ...envelope, ...payload }), name).toEqual({ ...envelope, ...body });
  }
  expect(eventOf("error", { ...envelope, message: "x" })).toBeNull();
});

/** Entries as the server tells them: what `crates/wire` is tested with. */
const PROJECTIONS = join(import.meta.dirname, "../../../../../crates/wire/fixtures/projections");
type Told = { event: Record<string, unknown>; socket: { name: string; payload: Record<string, unknown> }[] };
const told = readdirSync(PROJECTIONS).flatMap((file) =>
  readFileSync(join(PROJECTIONS, file), "utf8").trim().split("\n").map((line) => JSON.parse(line) as Told));

/** Without fields that say nothing: a message spells them out as null, an entry leaves them out. */
const bare = (value: unknown): unknown =>
  Array.isArray(value) ? value.map(bare)
  : typeof value === "object" && value !== null ? Object.fromEntries(Object.entries(value).filter(([, one]) => one !== null).map(([key, one]) => [key, bare(one)]))
  : value;

test("what the server tells by socket becomes the entries it was made from, each once", () => {
  expect(told.length).toBeGreaterThan(30);
  for (const { event, socket } of told) {
    const lines = socket.flatMap(({ name, payload }) => eventOf(name, payload) ?? []);
    // A conversation that was shortened is told as the block that says so.
    if (event.type === "context_compacted") expect(lines.map((line) => line.type)).toEqual(["block_complete"]);
    else expect(lines.map(bare), String(event.type)).toEqual(socket.length ? [bare(event)] : []);
  }
});

test("a refused join says why, in the server's words", () => {
  const error = refused({ status: 404, code: "NOT_FOUND", detail: "there is no session `x`" });
  expect(error).toMatchObject({ status: 404, problem: { code: "NOT_FOUND", detail: "there is no session `x`" } });
  expect(refused("no").problem).toMatchObject({ detail: "no" });
});
