import type { FileDiff } from "@warren/react";
import { describe, expect, it } from "vitest";
import { foldersAbove, rowsOf, stepFrom, totalsOf, treeOf } from "./changes";

const file = (path: string, more: Partial<FileDiff> = {}): FileDiff => ({ path, change: "changed", kind: "file", binary: false, ...more });
const shown = (paths: readonly string[], words = "", closed: string[] = []) =>
  rowsOf(treeOf(paths.map((path) => file(path)), words), new Set(closed)).map((row) => `${"  ".repeat(row.depth)}${row.name}${row.kind === "folder" ? `/ ${row.files}` : ""}`);

describe("the tree of changed files", () => {
  it("has folders first, each level by name, with numbers in their order", () => {
    expect(shown(["b.txt", "src/f10.ts", "src/f9.ts", "src/a/x.ts", "a.txt"])).toEqual(["src/ 3", "  a/ 1", "    x.ts", "  f9.ts", "  f10.ts", "a.txt", "b.txt"]);
  });
  it("gives folders that hold nothing but a folder one row", () => {
    expect(shown(["a/b/c/d.ts", "a/b/c/e.ts", "z"])).toEqual(["a/b/c/ 2", "  d.ts", "  e.ts", "z"]);
    expect(shown(["a/b/c/d.ts"], "", ["a/b/c"])).toEqual(["a/b/c/ 1"]);
  });
  it("keeps the slash of a path that is not in the workspace", () => {
    expect(shown(["/user-input/a.csv", "b"])).toEqual(["/user-input/ 1", "  a.csv", "b"]);
    expect(foldersAbove("/user-input/x/a.csv")).toEqual(["/user-input", "/user-input/x"]);
    expect(foldersAbove("a/b/c")).toEqual(["a", "a/b"]);
  });
  it("is filtered by all words of a path, in any case", () => {
    expect(shown(["src/Main.ts", "src/other.ts", "docs/main.md"], "main src")).toEqual(["src/ 1", "  Main.ts"]);
    expect(shown(["a"], "b")).toEqual([]);
  });
  it("shows a folder of its own only if nothing in it differs", () => {
    const tree = treeOf([file("empty", { kind: "directory", change: "added" }), file("full", { kind: "directory", change: "added" }), file("full/a", { change: "added" })], "");
    expect(rowsOf(tree, new Set()).map((row) => `${row.kind} ${row.path}`)).toEqual(["folder full", "file full/a", "file empty"]);
  });
  it("is walked in the order it is shown, and stops at both ends", () => {
    const { order } = treeOf(["b", "a/2", "a/1"].map((path) => file(path)), "");
    expect(order.map((one) => one.path)).toEqual(["a/1", "a/2", "b"]);
    expect([stepFrom(order, "a/1", 1)?.path, stepFrom(order, "b", 1)?.path, stepFrom(order, "a/1", -1)?.path, stepFrom(order, "gone", 1)?.path, stepFrom([], null, 1)]).toEqual(["a/2", "b", "a/1", "a/1", undefined]);
  });
  it("adds up what was counted", () => {
    expect(totalsOf([{ added: 2, removed: 1 }, {}, { added: 3, removed: 0 }])).toEqual({ added: 5, removed: 1, known: 3 });
  });
  it("is made of 20,000 files in well under a second", () => {
    const files = Array.from({ length: 20_000 }, (_, n) => file(`src/part${n % 100}/deep/f${n}.ts`));
    const begun = performance.now();
    expect(rowsOf(treeOf(files, "f"), new Set()).length).toBe(20_101);
    expect(performance.now() - begun).toBeLessThan(900);
  });
});
