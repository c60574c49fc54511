// Colours of the lines of a diff. Pure.
import type { Piece } from "./ansi";
import type { DiffLine, Hunk } from "./diff";
import { byLine, type Paint } from "./highlight";

/** Each hunk is painted twice, as it was and as it is, so that a string or comment over several lines keeps its colour. */
export function paintedLines(hunks: readonly Hunk[], paint: Paint): ReadonlyMap<DiffLine, Piece[]> {
  const painted = new Map<DiffLine, Piece[]>();
  for (const { lines } of hunks) {
    for (const other of ["add", "del"] as const) {
      const side = lines.filter((line) => line.kind !== other);
      const texts = byLine(paint(side.map((line) => line.words.map((word) => word.text).join("")).join("\n")));
      side.forEach((line, at) => painted.set(line, texts[at] ?? []));
    }
  }
  return painted;
}
