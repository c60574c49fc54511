// The unchanged lines between the hunks of a diff: left out, until somebody asks for them. Pure.
import type { Diff, DiffLine, Hunk } from "~/lib/diff";

/** Lines that are shown, or a place where unchanged lines are left out. */
export type Segment =
  | { kind: "lines"; key: number; label: string; lines: DiffLine[] }
  | { kind: "gap"; key: number; from: number; /** Unknown for the rest of a file that was not read. */ count: number | null; shift: number };

/** The last unchanged lines that a hunk is given: fewer of them, and the file ends there. */
const CONTEXT = 3;

/** Hunks with the gaps before, between and after them. */
export function segmentsOf(diff: Diff, total: number | null): Segment[] {
  const segments: Segment[] = [];
  let [next, shift] = [1, 0];
  diff.hunks.forEach((hunk, at) => {
    const [before, after] = beginOf(hunk);
    const count = after - next;
    if (count > 0) segments.push({ kind: "gap", key: next, from: next, count, shift });
    segments.push({ kind: "lines", key: -1 - at, label: hunk.label, lines: hunk.lines });
    const olds = hunk.lines.filter((line) => line.kind !== "add").length;
    const news = hunk.lines.filter((line) => line.kind !== "del").length;
    next = after + news;
    shift = before + olds - next;
  });
  const last = diff.hunks.at(-1);
  const trailing = last ? trailingSame(last) : 0;
  const rest = total === null ? null : total - next + 1;
  if (trailing >= CONTEXT && (rest === null || rest > 0)) segments.push({ kind: "gap", key: next, from: next, count: rest, shift });
  return segments;
}

/** With the lines of the file as it is now in those gaps that are open. Neighbours become one. */
export function filled(segments: readonly Segment[], open: ReadonlySet<number>, text: readonly string[] | null): Segment[] {
  if (text === null || open.size === 0) return [...segments];
  const out: Segment[] = [];
  for (const segment of segments) {
    const lines = segment.kind === "lines" ? segment.lines : open.has(segment.key) ? same(segment, text) : null;
    const previous = out.at(-1);
    if (lines === null) out.push(segment);
    else if (previous?.kind === "lines") out[out.length - 1] = { ...previous, lines: [...previous.lines, ...lines] };
    else out.push({ kind: "lines", key: segment.key, label: segment.kind === "lines" ? segment.label : "", lines: [...lines] });
  }
  return out;
}

/** The first lines of all segments together. */
export function firstLines(segments: readonly Segment[], most: number): Segment[] {
  let left = most;
  const out: Segment[] = [];
  for (const segment of segments) {
    if (left <= 0) break;
    if (segment.kind === "gap") out.push(segment);
    else {
      out.push(segment.lines.length <= left ? segment : { ...segment, lines: segment.lines.slice(0, left) });
      left -= segment.lines.length;
    }
  }
  return out;
}

/** A text as lines; what ends the last one begins no other. */
export function linesOf(text: string): string[] {
  const lines = text.replace(/\r\n/g, "\n").split("\n");
  if (lines.at(-1) === "") lines.pop();
  return lines;
}

function same(gap: Extract<Segment, { kind: "gap" }>, text: readonly string[]): DiffLine[] {
  const lines = text.slice(gap.from - 1, gap.count === null ? undefined : gap.from - 1 + gap.count);
  return lines.map((line, at) => ({ kind: "same", before: gap.from + at + gap.shift, after: gap.from + at, words: [{ text: line, mark: false }] }));
}

/** The numbers of its first line, before and after. A hunk that only removes begins after the line it follows. */
function beginOf(hunk: Hunk): [before: number, after: number] {
  const before = hunk.lines.find((line) => line.before !== null)?.before;
  const after = hunk.lines.find((line) => line.after !== null)?.after;
  // Without context on one side it is at the start of a file that was, or becomes, empty.
  return [before ?? 1, after ?? 1];
}

function trailingSame(hunk: Hunk): number {
  let count = 0;
  for (let at = hunk.lines.length - 1; at >= 0 && hunk.lines[at]?.kind === "same"; at--) count++;
  return count;
}
