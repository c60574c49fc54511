/** Differences of texts, line by line, with the changed words of a line marked. */

/** A part of a line; `mark` when it is what changed. */
export interface Word {
  text: string;
  mark: boolean;
}

/** A line of a diff. */
export interface DiffLine {
  kind: "same" | "add" | "del";
  before: number | null;
  after: number | null;
  words: Word[];
}

/** Lines that stand together. */
export interface Hunk {
  label: string;
  lines: DiffLine[];
}

/** A diff, or as much of it as is worth showing. */
export interface Diff {
  hunks: Hunk[];
  added: number;
  removed: number;
}

/** Unchanged lines around a change. */
const CONTEXT = 3;
/** Above this many different lines the diff is all of the old, then all of the new. */
const MAX_EDITS = 2000;

/** Compares two texts. `from` is the number of the first line, when they are a part of a file. */
export function compare(before: string, after: string, from = 1): Diff {
  const a = linesOf(before);
  const b = linesOf(after);
  return inHunks(numbered(script(a, b), from));
}

/** Reads a unified diff. */
export function readUnified(text: string): Diff {
  const hunks: Hunk[] = [];
  let added = 0;
  let removed = 0;
  let old = 0;
  let now = 0;
  for (const line of text.split("\n")) {
    const head = /^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@ ?(.*)$/.exec(line);
    if (head) {
      old = Number(head[1]);
      now = Number(head[2]);
      hunks.push({ label: head[3] ? `${head[3]} · line ${now}` : `line ${now}`, lines: [] });
      continue;
    }
    const hunk = hunks.at(-1);
    if (!hunk || line.startsWith("\\")) continue;
    const words = [{ text: line.slice(1), mark: false }];
    if (line.startsWith("+")) {
      hunk.lines.push({ kind: "add", before: null, after: now++, words });
      added++;
    } else if (line.startsWith("-")) {
      hunk.lines.push({ kind: "del", before: old++, after: null, words });
      removed++;
    } else if (line.startsWith(" ")) hunk.lines.push({ kind: "same", before: old++, after: now++, words });
  }
  for (const hunk of hunks) markWords(hunk.lines);
  return { hunks, added, removed };
}

function linesOf(text: string): string[] {
  if (text === "") return [];
  const lines = text.replace(/\r\n/g, "\n").split("\n");
  if (lines.at(-1) === "") lines.pop();
  return lines;
}

type Step = [kind: DiffLine["kind"], line: string];

/** The shortest way from one list of lines to the other (Myers), after what both ends have in common is set aside. */
function script(a: string[], b: string[]): Step[] {
  let head = 0;
  while (head < a.length && head < b.length && a[head] === b[head]) head++;
  let tail = 0;
  while (tail < a.length - head && tail < b.length - head && a[a.length - 1 - tail] === b[b.length - 1 - tail]) tail++;
  const same = (lines: string[]): Step[] => lines.map((line) => ["same", line]);
  return [
    ...same(a.slice(0, head)),
    ...shortest(a.slice(head, a.length - tail), b.slice(head, b.length - tail)),
    ...same(a.slice(a.length - tail)),
  ];
}

function shortest(a: string[], b: string[]): Step[] {
  const all = (): Step[] => [...a.map((line): Step => ["del", line]), ...b.map((line): Step => ["add", line])];
  if (!a.length || !b.length) return all();
  const max = Math.min(a.length + b.length, MAX_EDITS);
  const size = 2 * max + 1;
  const trace: Int32Array[] = [];
  const v = new Int32Array(size + 1);
  for (let d = 0; d <= max; d++) {
    trace.push(v.slice());
    for (let k = -d; k <= d; k += 2) {
      const down = k === -d || (k !== d && v[k - 1 + max]! < v[k + 1 + max]!);
      let x = down ? v[k + 1 + max]! : v[k - 1 + max]! + 1;
      while (x < a.length && x - k < b.length && a[x] === b[x - k]) x++;
      v[k + max] = x;
      if (x >= a.length && x - k >= b.length) return walked(a, b, trace, max);
    }
    if (d * size > 4_000_000) break;
  }
  return all();
}

function walked(a: string[], b: string[], trace: Int32Array[], max: number): Step[] {
  const steps: Step[] = [];
  let x = a.length;
  let y = b.length;
  for (let d = trace.length - 1; d >= 0; d--) {
    const v = trace[d]!;
    const k = x - y;
    const down = k === -d || (k !== d && v[k - 1 + max]! < v[k + 1 + max]!);
    const fromX = d === 0 ? 0 : down ? v[k + 1 + max]! : v[k - 1 + max]!;
    const fromY = d === 0 ? 0 : fromX - (down ? k + 1 : k - 1);
    while (x > fromX && y > fromY && x > 0 && y > 0 && a[x - 1] === b[y - 1]) {
      steps.push(["same", a[--x]!]);
      y--;
    }
    if (d === 0) break;
    if (down) steps.push(["add", b[--y]!]);
    else steps.push(["del", a[--x]!]);
  }
  return steps.reverse();
}

function numbered(steps: Step[], from: number): DiffLine[] {
  let old = from;
  let now = from;
  return steps.map(([kind, text]) => ({
    kind,
    before: kind === "add" ? null : old++,
    after: kind === "del" ? null : now++,
    words: [{ text, mark: false }],
  }));
}

function inHunks(lines: DiffLine[]): Diff {
  const near = new Uint8Array(lines.length);
  lines.forEach((line, at) => {
    if (line.kind !== "same") near.fill(1, Math.max(0, at - CONTEXT), Math.min(lines.length, at + CONTEXT + 1));
  });
  const hunks: Hunk[] = [];
  lines.forEach((line, at) => {
    if (!near[at]) return;
    if (!near[at - 1]) hunks.push({ label: `line ${line.after ?? line.before}`, lines: [] });
    hunks.at(-1)!.lines.push(line);
  });
  for (const hunk of hunks) markWords(hunk.lines);
  const count = (kind: DiffLine["kind"]) => lines.filter((line) => line.kind === kind).length;
  return { hunks, added: count("add"), removed: count("del") };
}

/** Pairs removed lines with the added ones that follow, and marks what differs between the two of a pair. */
function markWords(lines: DiffLine[]) {
  for (let at = 0; at < lines.length; ) {
    let dels = at;
    while (lines[dels]?.kind === "del") dels++;
    let adds = dels;
    while (lines[adds]?.kind === "add") adds++;
    const n = Math.min(dels - at, adds - dels);
    for (let i = 0; i < n; i++) pair(lines[at + i]!, lines[dels + i]!);
    at = Math.max(adds, at + 1);
  }
}

function pair(del: DiffLine, add: DiffLine) {
  const a = del.words[0]!.text.split(/(\w+|\s+)/).filter(Boolean);
  const b = add.words[0]!.text.split(/(\w+|\s+)/).filter(Boolean);
  let head = 0;
  while (head < a.length && head < b.length && a[head] === b[head]) head++;
  let tail = 0;
  while (tail < a.length - head && tail < b.length - head && a[a.length - 1 - tail] === b[b.length - 1 - tail]) tail++;
  const common = a.slice(0, head).concat(a.slice(a.length - tail)).join("").trim().length;
  if (common < 3) return;
  const words = (all: string[]): Word[] =>
    [
      { text: all.slice(0, head).join(""), mark: false },
      { text: all.slice(head, all.length - tail).join(""), mark: true },
      { text: all.slice(all.length - tail).join(""), mark: false },
    ].filter((word) => word.text);
  del.words = words(a);
  add.words = words(b);
}

/** A longer line is not shown whole. */
const MAX_LINE = 2000;

/** What is shown before the first change of a long line. */
const BEFORE_CHANGE = 200;

/** Which characters of a line are shown: all, or so many around its first change. */
export function partOf(words: readonly Word[]): { from: number; to: number; total: number } {
  const total = words.reduce((sum, word) => sum + word.text.length, 0);
  if (total <= MAX_LINE) return { from: 0, to: total, total };
  const change = words.length > 1 && !words[0]!.mark ? words[0]!.text.length : 0;
  const from = change > MAX_LINE - BEFORE_CHANGE ? change - BEFORE_CHANGE : 0;
  return { from, to: Math.min(total, from + MAX_LINE), total };
}
