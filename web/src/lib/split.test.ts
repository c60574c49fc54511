import { expect, test } from "vitest";
import type { DiffLine } from "./diff";
import { besides } from "./split";

const line = (kind: DiffLine["kind"], text: string): DiffLine => ({ kind, before: null, after: null, words: [{ text, mark: false }] });
const texts = (lines: DiffLine[]) => besides(lines).map((pair) => pair.map((side) => side?.words[0]?.text ?? null));

test("removed lines stand beside the added ones that replace them", () => {
  expect(texts([line("same", "a"), line("del", "b"), line("del", "c"), line("add", "B"), line("same", "d"), line("add", "e")])).toEqual([
    ["a", "a"], ["b", "B"], ["c", null], ["d", "d"], [null, "e"],
  ]);
  expect(texts([line("add", "x"), line("del", "y")])).toEqual([[null, "x"], ["y", null]]);
});
