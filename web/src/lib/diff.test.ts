import { expect, it } from "vitest";
import { compare, partOf, readUnified, type Diff } from "./diff";

const drawn = (diff: Diff) =>
  diff.hunks.map((hunk) => [
    hunk.label,
    ...hunk.lines.map((line) => `${{ same: " ", add: "+", del: "-" }[line.kind]}${line.words.map((w) => (w.mark ? `[${w.text}]` : w.text)).join("")}`),
  ]);

it("finds the shortest change and marks the words that differ", () => {
  const diff = compare("a\nb\nlet x = 1;\nc\n", "a\nlet x = 2;\nc\nd\n");
  expect(drawn(diff)).toEqual([["line 1", " a", "-b", "-let x = 1;", "+let x = 2;", " c", "+d"]]);
  expect([diff.added, diff.removed]).toEqual([2, 2]);
  expect(drawn(compare("let x = 1;", "let x = 2;"))).toEqual([["line 1", "-let x = [1];", "+let x = [2];"]]);
});

it("gives back both texts whatever they are", () => {
  let seed = 7;
  const random = (n: number) => (seed = (seed * 16807) % 2147483647) % n;
  for (let round = 0; round < 200; round++) {
    const lines = () => Array.from({ length: random(12) }, () => "abcd"[random(4)]!);
    const [a, b] = [lines(), lines()];
    const all = compare(a.join("\n"), b.join("\n")).hunks.flatMap((hunk) => hunk.lines);
    const side = (kind: "add" | "del") => all.filter((l) => l.kind === kind).map((l) => l.words.map((w) => w.text).join(""));
    const left = a.slice();
    for (const line of side("del")) left.splice(left.indexOf(line), 1);
    const right = b.slice();
    for (const line of side("add")) right.splice(right.indexOf(line), 1);
    expect(left.sort()).toEqual(right.sort());
  }
});

it("reads a unified diff", () => {
  const diff = readUnified("--- a\n+++ b\n@@ -18,2 +18,2 @@ serviceDay\n same\n-old\n+new\n");
  expect(drawn(diff)).toEqual([["serviceDay · line 18", " same", "-old", "+new"]]);
});

it("separates changes that are far apart", () => {
  const before = Array.from({ length: 40 }, (_, i) => `l${i}`);
  const after = before.map((line, i) => (i === 2 || i === 30 ? `${line}!` : line));
  expect(compare(before.join("\n"), after.join("\n")).hunks.map((hunk) => hunk.label)).toEqual(["line 1", "line 28"]);
});

it("shows the part of a long line that changed", () => {
  const long = "word ".repeat(2_000);
  const lines = compare(`${long}one${long}\n`, `${long}two${long}\n`).hunks.flatMap((hunk) => hunk.lines);
  expect(lines.map((line) => line.kind)).toEqual(["del", "add"]);
  for (const line of lines) {
    const text = line.words.map((word) => word.text).join("");
    const { from, to, total } = partOf(line.words);
    expect(text.slice(from, to)).toContain(line.kind === "del" ? "one" : "two");
    expect([to - from, total]).toEqual([2_000, 20_003]);
  }
  const added = compare(`${long}\n`, `${long}end\n`).hunks.flatMap((hunk) => hunk.lines).at(-1)!;
  expect(partOf(added.words)).toEqual({ from: 9_800, to: 10_003, total: 10_003 });
  expect(partOf([{ text: "short", mark: false }])).toEqual({ from: 0, to: 5, total: 5 });
});
