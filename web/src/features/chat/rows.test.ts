import type { Block } from "@warren/react";
import { expect, it } from "vitest";
import { RowBuilder, type Mark } from "./rows";

const at = (s: number) => new Date(s * 1000).toISOString();
const user = (id: string, s: number): Block => ({ type: "user_message", id, timestamp: at(s), content: id });
const text = (id: string, s: number, content = id): Block => ({ type: "assistant_text", id, timestamp: at(s), content });
const use = (id: string, s: number, toolName = "bash", status: "running" | "success" = "success", input: unknown = {}): Block => ({
  type: "tool_use", id, timestamp: at(s), toolName, toolUseId: id, input, status,
});
const result = (id: string, s: number): Block => ({ type: "tool_result", id: `${id}-r`, timestamp: at(s), toolUseId: id, output: "", isError: false });
const keys = (blocks: Block[], marks: Mark[] = []) => new RowBuilder().build(blocks, marks).map((row) => `${row.kind}:${row.key}`);

it("joins a call with its answer and folds bursts of reading", () => {
  const blocks = [user("u", 1), use("a", 2, "read"), result("a", 2), use("b", 3, "Read"), result("b", 3), use("c", 4), result("c", 5)];
  expect(keys(blocks)).toEqual(["user:u", "reads:a", "tool:c"]);
  expect(keys([use("a", 1, "read"), use("b", 2, "read", "running")])).toEqual(["tool:a", "tool:b"]);
});

it("puts what is no block where it happened", () => {
  const marks: Mark[] = [
    { mark: "approval", key: "ask", at: 3000, toolUseId: "a", value: 1 },
    { mark: "saved", key: "v1", at: 5000, value: 1 },
    { mark: "saved", key: "v2", at: 9000, value: 2 },
  ];
  expect(keys([user("u", 1), use("a", 2), result("a", 4), text("t", 6), user("w", 7)], marks)).toEqual([
    "user:u", "tool:a", "mark:ask", "text:t", "mark:v1", "user:w", "mark:v2",
  ]);
});

it("puts a version before a notice that came after it", () => {
  const notice = { type: "system", id: "n", timestamp: user("n", 5).timestamp, subtype: "status", message: "Version 1 was restored" } as Block;
  const marks: Mark<string>[] = [
    { mark: "saved", key: "v1", at: Date.parse(user("x", 3).timestamp), value: "" },
    { mark: "saved", key: "v2", at: Date.parse(user("x", 6).timestamp), value: "" },
  ];
  expect(keys([user("u", 1), text("t", 2), notice], marks)).toEqual(["user:u", "text:t", "mark:v1", "system:n", "mark:v2"]);
});

it("marks only the last plan as the one that counts", () => {
  const plan = (id: string, s: number) => use(id, s, "todo", "success", { todos: [{ content: id, status: "pending" }] });
  const rows = new RowBuilder().build([plan("p", 1), text("t", 2), plan("q", 3)], []);
  expect(rows.map((row) => row.kind === "plan" && row.latest)).toEqual([false, false, true]);
});

it("keeps rows that did not change, whatever else grows", () => {
  const builder = new RowBuilder();
  const blocks = [user("u", 1), use("a", 2), text("t", 3, "x")];
  const first = builder.build(blocks, []);
  const grown = builder.build([...blocks.slice(0, 2), text("t", 3, "xy")], []);
  expect(grown.slice(0, 2)).toEqual(first.slice(0, 2));
  expect(grown[0]).toBe(first[0]);
  expect(grown[1]).toBe(first[1]);
  expect(grown[2]).not.toBe(first[2]);
  const more = builder.build([...blocks.slice(0, 2), text("t", 3, "xy"), result("a", 4)], []);
  expect(more[0]).toBe(first[0]);
  expect(more[1]).not.toBe(first[1]);
});
