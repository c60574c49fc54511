import { expect, it } from "vitest";
import { forgottenSpans, isForgotten } from "./memory";

const v = (version: number, restored?: number) => ({ version, at: version * 10, restored });

it("forgets nothing without a restore", () => {
  expect(forgottenSpans([v(0), v(1), v(2)])).toEqual([]);
});

it("forgets what came between the restored version and the restore", () => {
  const spans = forgottenSpans([v(4), v(3, 1), v(2), v(1), v(0)]);
  expect(spans).toEqual([{ from: 10, to: 30, restored: 1 }]);
  expect([5, 10, 11, 29, 30, 35].map((at) => isForgotten(spans, at))).toEqual([false, false, true, true, false, false]);
});

it("remembers again what a later restore brings back", () => {
  // v3 returns to v1, v5 returns to v2: what v2 knew is known again, v3 and v4 are not.
  expect(forgottenSpans([v(1), v(2), v(3, 1), v(4), v(5, 2)])).toEqual([{ from: 20, to: 50, restored: 2 }]);
});

it("forgets twice when a restored version was itself restored", () => {
  expect(forgottenSpans([v(1), v(2), v(3, 1), v(4), v(5), v(6, 4)])).toEqual([{ from: 10, to: 30, restored: 1 }, { from: 40, to: 60, restored: 4 }]);
});

it("forgets everything before a restore of a version that is not listed, or of the start", () => {
  expect(forgottenSpans([v(9, 2)])).toEqual([{ from: -Infinity, to: 90, restored: 2 }]);
  expect(forgottenSpans([v(0), v(1), v(2, 0)])).toEqual([{ from: 0, to: 20, restored: 0 }]);
});
