import { expect, test } from "vitest";
import type { FileNews, VersionNews } from "../core/state";
import { importOf, lostAll, stampOf } from "./useWorkspaceFiles";

const news = (seq: number, path: string, change: FileNews["change"] = "created"): FileNews => ({ path, change, seq, at: "" });

test("a folder is read again when a new folder appears in it with a file below", () => {
  const before = [news(1, "notes.txt")];
  const after = [...before, news(2, "outputs/dashboard/index.html")];
  for (const path of ["", "outputs", "outputs/dashboard"]) {
    expect(stampOf(after, path), path).not.toBe(stampOf(before, path));
  }
  expect(stampOf(after, "other")).toBe(stampOf(before, "other"));
});

test("a folder is read again when its last file below is deleted, and when it comes back", () => {
  const made = [news(1, "a/b/c.txt")];
  const gone = [news(2, "a/b/c.txt", "deleted")];
  const back = [news(3, "a/b/c.txt")];
  expect(stampOf(gone, "")).not.toBe(stampOf(made, ""));
  expect(stampOf(back, "")).not.toBe(stampOf(gone, ""));
});

test("a folder is not read again for changes in folders it has already shown, nor for names that only begin alike", () => {
  const before = [news(1, "src/a.ts")];
  expect(stampOf([...before, news(2, "src/deep/b.ts"), news(3, "src/a.ts", "modified")], "")).toBe(stampOf(before, ""));
  expect(stampOf([...before, news(2, "src2/b.ts")], "src")).toBe(stampOf(before, "src"));
  expect(stampOf([...before, news(2, "src/a.ts", "modified")], "src")).not.toBe(stampOf(before, "src"));
});

test("an import is known by its version, and other versions are no news of files", () => {
  const version = (version: number, cause: string) => ({ version, cause }) as VersionNews;
  expect(importOf([])).toBe(0);
  expect(importOf([version(1, "import"), version(2, "run"), version(3, "import"), version(4, "idle")])).toBe(3);
  expect(importOf([version(1, "import"), version(2, "restore"), version(3, "run")])).toBe(2);
});

test("a folder that lost all it had is not asked for, because it may be gone", () => {
  const listing = { path: "a", entries: ["a/x", "a/y"].map((path) => ({ name: path.slice(2), path, kind: "file", sizeBytes: 1, mode: 420, modifiedAt: "" })) };
  const deleted = [news(1, "a/x", "deleted"), news(2, "a/y", "deleted"), news(3, "b/x")];
  expect(lostAll(listing, deleted)).toBe(true);
  expect(lostAll(listing, deleted.slice(1))).toBe(false);
  expect(lostAll(listing, [...deleted, news(4, "a/z")])).toBe(false);
  expect(lostAll({ path: "a", entries: [] }, [])).toBe(false);
});
