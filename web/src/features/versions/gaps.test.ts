import { describe, expect, it } from "vitest";
import { compare, readUnified } from "~/lib/diff";
import { filled, firstLines, linesOf, segmentsOf, type Segment } from "./gaps";

const lines = (n: number, changed: Record<number, string | null> = {}) =>
  Array.from({ length: n }, (_, at) => (at + 1 in changed ? changed[at + 1] : `line ${at + 1}`)).filter((line) => line !== null).join("\n") + "\n";
const told = (segments: readonly Segment[]) =>
  segments.map((segment) => (segment.kind === "gap" ? `gap ${segment.from} × ${segment.count}` : segment.lines.map((line) => `${line.before ?? ""}:${line.after ?? ""}`).join(" ")));

describe("gaps of a diff", () => {
  const before = lines(40);
  const after = lines(40, { 10: "ten", 11: null, 30: "thirty" });
  const diff = compare(before, after);

  it("stand before, between and after hunks, with the numbers of the new file", () => {
    expect(told(segmentsOf(diff, 39)).filter((part) => part.startsWith("gap"))).toEqual(["gap 1 × 6", "gap 14 × 12", "gap 33 × 7"]);
    expect(told(segmentsOf(diff, null)).at(-1)).toBe("gap 33 × null");
  });
  it("are filled with lines that have both numbers, and are then one with what is around", () => {
    const gaps = segmentsOf(diff, 39);
    const all = filled(gaps, new Set([1, 14, 33]), linesOf(after));
    expect(all.length).toBe(1);
    const shown = all.flatMap((segment) => (segment.kind === "lines" ? segment.lines : []));
    expect(shown.filter((line) => line.kind === "same").every((line) => before.split("\n")[(line.before ?? 0) - 1] === line.words[0]?.text)).toBe(true);
    expect(shown.filter((line) => line.kind !== "del").map((line) => line.after)).toEqual(Array.from({ length: 39 }, (_, at) => at + 1));
    expect(told(filled(gaps, new Set([14]), linesOf(after))).length).toBe(3);
  });
  it("are not where a file is new, gone, or ends", () => {
    expect(told(segmentsOf(readUnified("--- /dev/null\n+++ b/a\n@@ -0,0 +1,2 @@\n+one\n+two\n"), null))).toEqual([":1 :2"]);
    expect(told(segmentsOf(readUnified("--- a/a\n+++ /dev/null\n@@ -1,2 +0,0 @@\n-one\n-two\n"), null))).toEqual(["1: 2:"]);
    expect(told(segmentsOf(readUnified("@@ -1,2 +1,3 @@\n one\n+two\n three\n"), null))).toEqual(["1:1 :2 2:3"]);
  });
  it("leave the first lines whole when there are too many", () => {
    expect(told(firstLines(segmentsOf(diff, 39), 3))).toEqual(["gap 1 × 6", "7:7 8:8 9:9"]);
  });
});
