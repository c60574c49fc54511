import { expect, it } from "vitest";
import { hasGone } from "./gone";

const news = (path: string, change: "created" | "modified" | "deleted") => ({ path, change, at: "", seq: 1 });
const entry = (name: string) => ({ name, path: `/user-input/${name}`, kind: "file" as const, sizeBytes: 1, mode: 420, modifiedAt: "" });

const NONE = new Map();

it("knows a file of the workspace as gone only after the log told of its end", () => {
  expect(hasGone("a.md", [], NONE, [])).toBe(false);
  expect(hasGone("a.md", [news("a.md", "deleted")], NONE, [])).toBe(true);
  expect(hasGone("a.md", [news("a.md", "created"), news("b.md", "deleted")], NONE, [])).toBe(false);
  const unsaved = new Map([["a.md", news("a.md", "deleted")]]);
  expect(hasGone("a.md", [], unsaved, [])).toBe(true);
  expect(hasGone("a.md", [news("a.md", "created")], unsaved, [])).toBe(false);
});

it("knows an upload as gone when the list of uploads has it no more", () => {
  expect(hasGone("/user-input/a.csv", [], NONE, undefined)).toBe(false);
  expect(hasGone("/user-input/a.csv", [], NONE, [entry("a.csv")])).toBe(false);
  expect(hasGone("/user-input/dir/a.csv", [], NONE, [entry("dir")])).toBe(false);
  expect(hasGone("/user-input/a.csv", [], NONE, [entry("b.csv")])).toBe(true);
});
