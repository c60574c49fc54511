import { expect, it } from "vitest";
import { byPath } from "./unsaved";
import { markOf } from "./tree";

it("marks files as the server lists them, whatever events came since the page was opened", () => {
  const listed = { version: 1, changes: [{ path: "a", change: "created" as const }, { path: "b", change: "created" as const, movedFrom: "old" }, { path: "c", change: "deleted" as const }] };
  const news = [{ path: "a", change: "modified" as const, at: "2026-01-01", seq: 7 }, { path: "old", change: "deleted" as const, at: "2026-01-01", seq: 8 }];
  const files = byPath(listed, news);
  expect([...files.values()].map((one) => [one.path, markOf(one), one.seq])).toEqual([["a", "A", 7], ["b", "R", 0], ["c", "D", 0]]);
  expect(byPath(undefined, news).size).toBe(0);
});
