import { emptyState, type PendingMessage, type Run, type SessionState } from "@warren/react/core";
import { expect, it } from "vitest";
import { MarkBuilder } from "./marks";

const at = (s: number) => new Date(s * 1000).toISOString();
const run = (runId: string, more: Partial<Run>): Run => ({ runId, status: "completed", content: "go", startedAt: at(1), endedAt: at(5), ...more });
const state = (runs: Run[]): SessionState => {
  const made = emptyState();
  for (const one of runs) made.runs.put(one.runId, one);
  return made;
};
const keys = (of: SessionState, pending: PendingMessage[] = []) => new MarkBuilder().build(of, [], pending).map((mark) => mark.key);

it("marks the ends of runs that did not end well, and not those that never began", () => {
  const runs = [run("a", {}), run("b", { status: "failed" }), run("c", { status: "interrupted" }), run("d", { status: "interrupted", startedAt: undefined })];
  expect(keys(state(runs))).toEqual(["end-b", "end-c"]);
});

it("shows the sandbox on its way until the agent says something", () => {
  const running = state([run("a", { status: "running", endedAt: undefined })]);
  expect(keys(running)).toEqual(["boot-a"]);
  running.main.put("m", { type: "user_message", id: "m", timestamp: at(1), content: "go" });
  expect(keys(running)).toEqual(["boot-a"]);
  running.main.put("t", { type: "assistant_text", id: "t", timestamp: at(2), content: "hi" });
  expect(keys(running)).toEqual([]);
});

it("shows a message on its way once: in the conversation, or above the composer", () => {
  const message = (more: Partial<PendingMessage>): PendingMessage => ({ key: "k", content: "x", at: 0, state: "sent", ...more });
  const runs = [run("q", { status: "queued", startedAt: undefined, endedAt: undefined }), run("x", { status: "interrupted", startedAt: undefined })];
  expect(keys(state(runs), [message({ state: "sending" })])).toEqual(["k"]);
  expect(keys(state(runs), [message({ runId: "q" })])).toEqual([]);
  expect(keys(state(runs), [message({ runId: "x" })])).toEqual([]);
  expect(keys(state(runs), [message({ runId: "q", state: "failed" })])).toEqual(["k"]);
});

it("gives the same list until one of its marks changes", () => {
  const builder = new MarkBuilder();
  const one = state([run("b", { status: "failed" })]);
  const first = builder.build(one, [{ version: 1, cause: "run", at: 2, seq: 20 }], []);
  expect(builder.build(one, [{ version: 1, cause: "run", at: 2, seq: 20 }], [])).toBe(first);
  expect(builder.build(one, [{ version: 1, cause: "run", at: 2, seq: 20 }, { version: 2, cause: "run", at: 3, seq: 30 }], [])).not.toBe(first);
});

it("puts what a run made before the version that keeps it", () => {
  const made = new Map([[1, [{ id: "a", name: "a.md", kind: "markdown" as const, is: "new" as const }]]]);
  const marks = new MarkBuilder().build(state([run("a", {})]), [{ version: 1, cause: "run", at: 2, seq: 20 }], [], made);
  expect(marks.map((mark) => mark.key)).toEqual(["made-1", "v-1"]);
});

it("puts a message on its way before the sandbox that starts for it", () => {
  const running = state([run("a", { status: "running", endedAt: undefined })]);
  expect(keys(running, [{ key: "k", content: "x", at: 0, state: "sent", runId: "a" }])).toEqual(["k", "boot-a"]);
});

it("leaves out what belongs before the oldest loaded block, but no request that waits", () => {
  const asked = (approvalId: string, s: number, resolution?: object) => ({ approvalId, kind: "permission", title: "Run", detail: {}, options: ["allow"], expiresAt: at(900), conversationId: "main", requestedAt: at(s), ...(resolution && { resolution }) });
  const one = state([run("a", { status: "failed", endedAt: at(5) }), run("b", { status: "failed", startedAt: at(20), endedAt: at(25) })]);
  for (const approval of [asked("answered", 4, { approvalId: "answered", decision: "allow", by: "mara", at: at(5) }), asked("waits", 6), asked("later", 22)]) one.approvals.put(approval.approvalId, approval as never);
  one.main.put("m", { type: "user_message", id: "m", timestamp: at(20), content: "go" });
  expect(keys(one)).toEqual(["ask-answered", "end-a", "ask-waits", "ask-later", "end-b"]);
  one.cut.add("main");
  expect(keys(one)).toEqual(["ask-later", "end-b", "ask-waits"]);
});
