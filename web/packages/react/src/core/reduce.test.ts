import { readFileSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { Event } from "../wire/types";
import { reduce } from "./reduce";
import { emptyState, waitingOf, type SessionState } from "./state";

// The recordings of crates/agents: `out.jsonl` are the events that an agent's output became, `blocks.json` what the Rust
// fold made of them, which the tests of that crate compare with the fold itself.
const FIXTURES = join(import.meta.dirname, "../../../../../crates/agents/fixtures");

function cases(folder: string): string[] {
  const names = readdirSync(folder);
  const here = names.includes("out.jsonl") && names.includes("blocks.json") ? [folder] : [];
  const below = names.map((name) => join(folder, name)).filter((path) => statSync(path).isDirectory());
  return [...here, ...below.flatMap(cases)];
}

const fold = (events: Event[]): SessionState => {
  const state = emptyState();
  for (const event of events) reduce(state, event);
  return state;
};

const threads = (state: SessionState) => ({
  main: state.main.values(),
  subagents: state.threads.keys().map((id) => ({ id, blocks: state.threads.get(id)?.values() })),
});

const found = cases(FIXTURES);

test("there are recordings of every agent", () => {
  expect(found.length).toBeGreaterThan(90);
});

describe("the fold gives the blocks that the server's fold gives", () => {
  test.each(found.map((path) => path.slice(FIXTURES.length + 1)))("%s", (name) => {
    const lines = readFileSync(join(FIXTURES, name, "out.jsonl"), "utf8").split("\n").filter(Boolean);
    const events = lines.map((line) => JSON.parse(line)).filter((line) => "type" in line) as Event[];
    const expected = JSON.parse(readFileSync(join(FIXTURES, name, "blocks.json"), "utf8"));
    expect(threads(fold(events))).toEqual(expected);
  });
});

const at = "2026-01-01T00:00:00.000Z";
const line = (body: object) => ({ seq: 1, sessionId: "s", timestamp: at, conversationId: "main", ...body }) as Event;

test("deltas, updates and discards make the blocks a person sees", () => {
  const state = fold([
    line({ type: "block_start", block: { type: "assistant_text", id: "a", timestamp: at, content: "" } }),
    line({ type: "text_delta", blockId: "a", delta: "Hel" }),
    line({ type: "block_start", block: { type: "thinking", id: "t", timestamp: at, content: "no" } }),
    line({ type: "text_delta", blockId: "a", delta: "lo" }),
    line({
      type: "block_start",
      block: { type: "tool_use", id: "u", timestamp: at, toolName: "bash", toolUseId: "u", input: {}, status: "pending" },
    }),
    line({ type: "block_discarded", blockId: "t", reason: "abandoned" }),
    line({ type: "block_update", blockId: "u", updates: { status: "running", id: "evil", type: "error" } }),
    line({ type: "block_update", blockId: "u", updates: { status: "no such status" } }),
    line({ type: "subagent_started", conversationId: "s1", subagentId: "s1", input: "x", parent: "main" }),
    line({ type: "text_delta", blockId: "a", delta: "!", conversationId: "s1" }),
  ]);
  expect(threads(state)).toEqual({
    main: [
      { type: "assistant_text", id: "a", timestamp: at, content: "Hello" },
      { type: "tool_use", id: "u", timestamp: at, toolName: "bash", toolUseId: "u", input: {}, status: "running" },
    ],
    subagents: [{ id: "s1", blocks: [] }],
  });
});

test("a delta touches its block and nothing else", () => {
  const state = fold([line({ type: "block_start", block: { type: "assistant_text", id: "a", timestamp: at, content: "" } })]);
  const order = state.main.keys();
  const touched = new Set<never>();
  reduce(state, line({ type: "text_delta", blockId: "a", delta: "x", seq: 2 }), touched);
  expect([...touched]).toEqual(["block:main/a"]);
  expect(state.main.keys()).toBe(order);
});

test("a compacted range moves the position past it and is remembered", () => {
  const state = emptyState();
  reduce(state, { type: "log_compacted", from: 3, to: 900 });
  expect([state.seq, state.compacted]).toEqual([900, [{ from: 3, to: 900 }]]);
});

test("a kind of event from a newer server changes nothing", () => {
  const state = emptyState();
  reduce(state, line({ type: "weather_changed", sky: "blue", seq: 5 }));
  expect([state.seq, state.main.size]).toEqual([5, 0]);
});

test("messages wait in the order in which they came, until one is given another place", () => {
  const queued = (runId: string, position: number, content = runId) => line({ type: "run_queued", runId, content, position });
  const waiting = (events: Event[]) => {
    const state = fold(events);
    return waitingOf(state.runs.values(), state.queue).map((run) => run.content);
  };
  const three = [queued("a", 1), queued("b", 2), queued("c", 3)];
  expect(waiting(three)).toEqual(["a", "b", "c"]);
  expect(waiting([...three, queued("c", 1)])).toEqual(["c", "a", "b"]);
  expect(waiting([...three, queued("a", 2, "better")])).toEqual(["b", "better", "c"]);
  const started = line({ type: "run_started", runId: "b", input: "b", baseVersion: 0 });
  expect(waiting([...three, started, queued("a", 2)])).toEqual(["c", "a"]);
});

const queued = (runId: string, position: number) => line({ type: "run_queued", runId, content: runId, position });
const started = (runId: string) => line({ type: "run_started", runId, input: runId, baseVersion: 0 });
const stopped = (runId: string) => line({ type: "run_interrupted", runId, by: "you", usage: {}, costUSD: 0 });
const held = (queueHeld: boolean) => line({ type: "session_updated", changes: { queueHeld } });

test("a steered message leaves the queue when the agent takes it up", () => {
  const block = { type: "user_message", id: "msg-b", timestamp: at, content: "b" };
  const state = fold([started("a"), queued("b", 1), queued("c", 2), line({ type: "block_complete", runId: "a", block })]);
  expect(waitingOf(state.runs.values(), state.queue).map((run) => run.runId)).toEqual(["c"]);
  expect(state.runs.get("b")?.status).toBe("steered");
});

test("queued messages are held after a stop until they are resumed or a message is sent", () => {
  const stop = [started("a"), queued("b", 1), held(true), stopped("a")];
  expect(fold(stop).queueHeld).toBe(true);
  expect(fold([...stop, held(false)]).queueHeld).toBe(false);
  expect(fold([...stop, started("c")]).queueHeld).toBe(false);
  expect(fold([...stop, queued("b", 1)]).queueHeld).toBe(true);
  const sent = fold([...stop, queued("c", 1)]);
  expect([sent.queueHeld, waitingOf(sent.runs.values(), sent.queue).map((run) => run.runId)]).toEqual([false, ["c", "b"]]);
});
