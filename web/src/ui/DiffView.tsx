import { memo, useMemo, useState } from "react";
import type { Diff, DiffLine, Hunk } from "~/lib/diff";
import { count } from "~/lib/format";
import type { Piece } from "~/lib/ansi";
import { languageOf, useHighlighter } from "~/lib/highlight";
import { paintedLines } from "~/lib/paintedLines";
import { Words } from "./Words";

/** More lines than this are shown on demand. */
const MANY = 200;

type Props = { path: string; diff: Diff; label?: string };

/** A diff: hunk labels, old and new numbers, sign, code with the changed words marked. */
export const DiffView = memo(function DiffView({ path, diff, label = `Changes to ${path}` }: Props) {
  const [all, setAll] = useState(false);
  const shown = useMemo(() => (all ? diff.hunks : cut(diff.hunks, MANY)), [diff, all]);
  const paint = useHighlighter(languageOf(path));
  const colours = useMemo(() => paintedLines(shown, paint), [shown, paint]);
  const n = diff.hunks.reduce((sum, hunk) => sum + hunk.lines.length + 1, 0);
  return (
    <div className="diff" role="region" aria-label={label} tabIndex={0}>
      {shown.map((hunk, at) => (
        <div key={at}>
          <div className="hunk">{hunk.label}</div>
          {hunk.lines.map((line, row) => <Line key={row} line={line} pieces={colours.get(line) ?? []} />)}
        </div>
      ))}
      {n > MANY && !all && (
        <button type="button" className="more" onClick={() => setAll(true)}>
          Show all {count(n)} lines
        </button>
      )}
    </div>
  );
});

/** The first lines of all hunks together. */
export function cut(hunks: readonly Hunk[], most: number): Hunk[] {
  let left = most;
  return hunks.flatMap((hunk) => {
    const lines = hunk.lines.slice(0, Math.max(0, left));
    left -= hunk.lines.length + 1;
    return lines.length > 0 ? [{ ...hunk, lines }] : [];
  });
}

const LOOK = { same: ["", "", ""], add: ["p", "+", "added"], del: ["m", "−", "removed"] } as const;

/** One line: both numbers, the sign and the text. */
export function Line({ line, pieces }: { line: DiffLine; pieces: readonly Piece[] }) {
  const [look, sign, said] = LOOK[line.kind];
  return (
    <div className={`l ${look}`}>
      <i>{line.before}</i>
      <i>{line.after}</i>
      <em aria-label={said || undefined} role={said ? "img" : undefined}>{sign}</em>
      <code><Words words={line.words} pieces={pieces} /></code>
    </div>
  );
}
