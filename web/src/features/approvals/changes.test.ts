import { expect, it } from "vitest";
import { changesAsked } from "./changes";

/** A request in short: what happens to which file, and its lines. */
const short = (detail: unknown) => changesAsked(detail).files.map(({ path, act, to, diff }) => [
  `${act} ${path}${to === null ? "" : ` to ${to}`}`,
  ...diff.hunks.flatMap((hunk) => hunk.lines.map((line) => ({ add: "+", del: "-", same: " " })[line.kind] + line.words.map((word) => word.text).join(""))),
]);

it.each([
  ["built-in", { toolName: "write", input: { path: "a.md", content: "x\ny\n" } }],
  ["Claude Code", { toolName: "Write", input: { file_path: "a.md", content: "x\ny\n" } }],
  ["Gemini CLI", { toolName: "write_file", input: { file_path: "a.md", content: "x\ny\n" } }],
  ["OpenCode", { toolName: "write", input: { filePath: "a.md", content: "x\ny\n" }, permission: "edit", metadata: {} }],
  ["Codex", { toolName: "apply_patch", input: { changes: [{ path: "a.md", kind: "add", diff: "x\ny\n" }] } }],
  ["Codex, older", { toolName: "apply_patch", input: { "a.md": { type: "add", content: "x\ny\n" } } }],
  ["a patch", { toolName: "apply_patch", input: { patchText: "*** Begin Patch\n*** Add File: a.md\n+x\n+y\n*** End Patch" } }],
  ["ACP", { toolName: "edit", input: {}, content: [{ type: "diff", path: "a.md", oldText: null, newText: "x\ny\n" }] }],
  ["an MCP server", { toolName: "mcp__fs__write_file", input: { path: "a.md", content: "x\ny\n" } }],
])("shows the text of a new file: %s", (_agent, detail) => {
  expect(short(detail)).toEqual([["write a.md", "+x", "+y"]]);
});

it.each([
  ["built-in", { toolName: "edit", input: { path: "a.md", old_text: "x", new_text: "z" } }],
  ["Claude Code", { toolName: "Edit", input: { file_path: "a.md", old_string: "x", new_string: "z" } }],
  ["Claude Code, several", { toolName: "MultiEdit", input: { file_path: "a.md", edits: [{ old_string: "x", new_string: "z" }] } }],
  ["Gemini CLI", { toolName: "replace", input: { file_path: "a.md", old_string: "x", new_string: "z" } }],
  ["OpenCode", { toolName: "edit", input: { filePath: "a.md", oldString: "x", newString: "z" } }],
  ["OpenCode, by metadata", { toolName: "edit", input: { filepath: "a.md" }, metadata: { filepath: "a.md", diff: "--- a.md\n+++ a.md\n@@ -1 +1 @@\n-x\n+z\n" } }],
  ["Codex", { toolName: "apply_patch", input: { changes: [{ path: "a.md", kind: "update", diff: "@@ -1 +1 @@\n-x\n+z\n" }] } }],
  ["Codex, older", { toolName: "apply_patch", input: { "a.md": { update: { unified_diff: "@@ -1 +1 @@\n-x\n+z\n", move_path: null } } } }],
  ["a patch", { toolName: "apply_patch", input: { input: "*** Begin Patch\n*** Update File: a.md\n@@\n-x\n+z\n*** End Patch\n" } }],
  ["ACP", { toolName: "edit", input: { anything: 1 }, content: [{ type: "diff", path: "a.md", oldText: "x", newText: "z" }] }],
])("shows what an edit changes: %s", (_agent, detail) => {
  expect(short(detail)).toEqual([["edit a.md", "-x", "+z"]]);
});

it("shows each file of a patch, deletions and moves too", () => {
  const patchText = "*** Begin Patch\n*** Delete File: old.md\n*** Update File: b.md\n*** Move to: c.md\n@@\n-x\n+z\n*** End Patch";
  expect(short({ toolName: "apply_patch", input: { patchText } })).toEqual([["delete old.md"], ["move b.md to c.md", "-x", "+z"]]);
});

it("leaves out nothing of the input that the lines do not show", () => {
  const { rest } = changesAsked({ toolName: "Edit", input: { file_path: "a", old_string: "x", new_string: "z", replace_all: true, mode: "0777" } });
  expect(rest).toEqual([["replace_all", "true"], ["mode", "0777"]]);
});

it("makes characters visible that would not be seen", () => {
  expect(short({ toolName: "write", input: { path: "a", content: "a\u202eb" } })).toEqual([["write a", "+a⟨202E⟩b"]]);
});

it("takes nothing else for a change of a file", () => {
  for (const detail of [null, "x", {}, { toolName: "bash", input: { command: "rm a" } }, { toolName: "read", input: { path: "a" } }, { toolName: "x", input: { a: { type: "add" } } }]) {
    expect(changesAsked(detail)).toEqual({ files: [], rest: [] });
  }
});
