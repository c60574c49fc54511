import { expect, it } from "vitest";
import { diffsOf, endingOf, lineOf, outcomeOf, outputText, pathOf, planOf } from "./tools";

const line = (toolName: string, input: unknown, description?: string) => {
  const { kind, verb, object } = lineOf({ toolName, input, description });
  return [kind, verb, object];
};

it("says the same of the same act, whichever agent did it", () => {
  expect(line("bash", { command: "pnpm test\nls" }, "Run tests")).toEqual(["run", "Run", "pnpm test …"]);
  expect(line("shell", { command: ["ls", "-la"] })).toEqual(["run", "Run", "ls -la"]);
  expect(line("Edit", { file_path: "/workspace/src/a.ts" })).toEqual(["edit", "Edit", "src/a.ts"]);
  expect(line("apply_patch", { changes: [{ path: "/workspace/b.rs", kind: "add", diff: "x\n" }] })).toEqual(["edit", "Edit", "b.rs"]);
  expect(line("grep", { pattern: "timeZone", path: "src" })).toEqual(["search", "Search", "timeZone in src"]);
  expect(line("mcp__timetable__notices", { from: "2026-07-01" })).toEqual(["mcp", "timetable: notices", '{ "from": "2026-07-01" }']);
  expect(line("fly", { to: "the moon" })).toEqual(["other", "fly", '{ "to": "the moon" }']);
});

it("shows what a call changes", () => {
  const [edit] = diffsOf({ toolName: "edit", input: { path: "a", old_text: "one", new_text: "two" } });
  expect([edit!.diff.added, edit!.diff.removed]).toEqual([1, 1]);
  const [write] = diffsOf({ toolName: "Write", input: { file_path: "a", content: "1\n2\n" } });
  expect([write!.diff.added, write!.diff.removed]).toEqual([2, 0]);
  const [patch] = diffsOf({ toolName: "apply_patch", input: { changes: [{ path: "p", kind: "update", diff: "@@\n a\n-b\n+c\n" }] } });
  expect([patch!.diff.added, patch!.diff.removed]).toEqual([1, 1]);
  expect(diffsOf({ toolName: "edit", input: {} })).toEqual([]);
});

it("numbers lines only where the log knows their place", () => {
  const numbers = (call: Parameters<typeof diffsOf>[0], output?: unknown) => diffsOf(call, output)[0]!.diff.hunks.flatMap((hunk) => hunk.lines.map((line) => [line.before, line.after]));
  const edit = { toolName: "Edit", input: { file_path: "a", old_string: "one", new_string: "two" } };
  expect(numbers(edit)).toEqual([[null, null], [null, null]]);
  expect(numbers(edit, "The file a has been updated:\n    41→zero\n    42→two\n    43→three")).toEqual([[42, null], [null, 42]]);
  const patch = { toolName: "apply_patch", input: { changes: [{ path: "p", kind: "update", diff: "@@ -7,2 +7,2 @@\n a\n-b\n+c\n" }] } };
  expect(numbers(patch)).toEqual([[7, 7], [8, null], [null, 8]]);
  expect(numbers({ toolName: "write", input: { path: "n", content: "x\n" } })).toEqual([[null, 1]]);
});

it("tells what failed from what was denied and what was stopped", () => {
  const failed = (output: unknown) => ({ output, isError: true });
  expect(endingOf("success", { output: "ok", isError: false }, false)).toBe("done");
  expect(endingOf("running", null, false)).toBe("open");
  expect(endingOf("error", null, false)).toBe("stopped");
  expect(endingOf("error", failed("anything"), true)).toBe("denied");
  expect(endingOf("error", failed("The user doesn't want to proceed with this tool use."), false)).toBe("denied");
  expect(endingOf("error", failed("Permission denied by the person"), false)).toBe("denied");
  expect(endingOf("error", failed("[Request interrupted by user]"), false)).toBe("stopped");
  expect(endingOf("error", failed("cat: secret: Permission denied\nexit code 1"), false)).toBe("failed");
  expect(endingOf("error", failed("no such file"), false)).toBe("failed");
});

it("reads the plans of three agents", () => {
  expect(planOf({ toolName: "todo", input: { todos: [{ content: "a", status: "completed" }, { content: "b", status: "in_progress" }] } })).toEqual([
    { text: "a", state: "done" },
    { text: "b", state: "now" },
  ]);
  expect(planOf({ toolName: "update_plan", input: { plan: [{ step: "a", status: "pending" }] } })).toEqual([{ text: "a", state: "open" }]);
  expect(planOf({ toolName: "bash", input: { todos: [] } })).toBeNull();
});

it("says what came of a call", () => {
  expect(outcomeOf("run", "boom\nexit code 2", true)).toBe("exit 2");
  expect(outcomeOf("run", "Tests: 14 passed", false)).toBe("14 passed");
  expect(outcomeOf("search", "a:1:x\nb:2:y\n", false)).toBe("2 hits");
  expect(outputText([{ type: "text", text: "a" }, { type: "image" }])).toBe("a\n[image]");
});

it("survives inputs that are not what a tool takes", () => {
  for (const input of [null, undefined, 7, "x", [], { path: 7 }, { changes: [null] }]) {
    expect(() => [lineOf({ toolName: "edit", input }), diffsOf({ toolName: "edit", input }), pathOf(input)]).not.toThrow();
  }
});
