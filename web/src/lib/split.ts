// Lines of a diff in pairs, old and new beside each other. Pure.
import type { DiffLine } from "./diff";

export type Pair = readonly [before: DiffLine | null, after: DiffLine | null];

/** Removed lines stand beside the added ones that follow them; what has no counterpart stands alone. */
export function besides(lines: readonly DiffLine[]): Pair[] {
  const pairs: Pair[] = [];
  let dels: DiffLine[] = [];
  let adds: DiffLine[] = [];
  const flush = () => {
    for (let at = 0; at < Math.max(dels.length, adds.length); at += 1) pairs.push([dels[at] ?? null, adds[at] ?? null]);
    dels = [];
    adds = [];
  };
  for (const line of lines) {
    if (line.kind === "del") {
      if (adds.length > 0) flush();
      dels.push(line);
    } else if (line.kind === "add") adds.push(line);
    else {
      flush();
      pairs.push([line, line]);
    }
  }
  flush();
  return pairs;
}
