import { expect, test } from "vitest";
import { compare } from "./diff";
import { load } from "./highlight";
import { paintedLines } from "./paintedLines";

test("comment over several lines keeps its colour on both sides of a change", async () => {
  const diff = compare("/* one\n two */\nlet a = 1;\n", "/* one\n 2 */\nlet a = 1;\n");
  const painted = paintedLines(diff.hunks, await load("ts"));
  const seen = diff.hunks[0]!.lines.map((line) => [line.kind, ...painted.get(line)!.map((piece) => `${piece.className}:${piece.text}`)]);
  expect(seen.slice(0, 3)).toEqual([["same", "hl-c:/* one"], ["del", "hl-c: two */"], ["add", "hl-c: 2 */"]]);
});
