import { expect, it } from "vitest";
import { hasGone } from "./gone";

const news = (path: string, change: "created" | "modified" | "deleted") => ({ path, change, at: "", seq: 1 });
const entry = (name: string) => ({ name, path: `/user-input/${name}`, kind: "file" as const, sizeBytes: 1, mode: 420, modifiedAt: "" });

it("knows a file of the workspace as gone only after the log told of its end", () => {
  expect(hasGone("a.md", [], [])).toBe(false);
  expect(hasGone("a.md", [news("a.md", "deleted")], [])).toBe(true);
  expect(hasGone("a.md", [news("a.md", "created"), news("b.md", "deleted")], [])).toBe(false);
});

it("knows an upload as gone when the list of uploads has it no more", () => {
  expect(hasGone("/user-input/a.csv", [], undefined)).toBe(false);
  expect(hasGone("/user-input/a.csv", [], [entry("a.csv")])).toBe(false);
  expect(hasGone("/user-input/dir/a.csv", [], [entry("dir")])).toBe(false);
  expect(hasGone("/user-input/a.csv", [], [entry("b.csv")])).toBe(true);
});
