import { memo, useMemo, useState } from "react";
import type { Piece } from "~/lib/ansi";
import type { Diff, DiffLine } from "~/lib/diff";
import { count } from "~/lib/format";
import { languageOf, useHighlighter } from "~/lib/highlight";
import { paintedLines } from "~/lib/paintedLines";
import { besides, type Pair } from "~/lib/split";
import { cut } from "./DiffView";
import { Words } from "./Words";

const MANY = 200;

type Colours = ReadonlyMap<DiffLine, Piece[]>;

/** A diff with old and new side by side. */
export const SplitDiff = memo(function SplitDiff({ path, diff }: { path: string; diff: Diff }) {
  const [all, setAll] = useState(false);
  const shown = useMemo(() => (all ? diff.hunks : cut(diff.hunks, MANY)), [diff, all]);
  const paint = useHighlighter(languageOf(path));
  const colours = useMemo(() => paintedLines(shown, paint), [shown, paint]);
  const n = diff.hunks.reduce((sum, hunk) => sum + hunk.lines.length + 1, 0);
  return (
    <div className="diff split" role="region" aria-label={`Changes to ${path}, side by side`} tabIndex={0}>
      {shown.map((hunk, at) => (
        <div key={at}>
          <div className="hunk">{hunk.label}</div>
          {besides(hunk.lines).map((pair, row) => <Row key={row} pair={pair} colours={colours} />)}
        </div>
      ))}
      {n > MANY && !all && <button type="button" className="more" onClick={() => setAll(true)}>Show all {count(n)} lines</button>}
    </div>
  );
});

function Row({ pair: [left, right], colours }: { pair: Pair; colours: Colours }) {
  return (
    <div className="l2">
      <Side line={left} number={left?.before ?? null} look="m" colours={colours} />
      <Side line={right} number={right?.after ?? null} look="p" colours={colours} />
    </div>
  );
}

function Side({ line, number, look, colours }: { line: DiffLine | null; number: number | null; look: "m" | "p"; colours: Colours }) {
  if (!line) return <div className="l none" />;
  return (
    <div className={`l ${line.kind === "same" ? "" : look}`}>
      <i>{number}</i>
      <code><Words words={line.words} pieces={colours.get(line) ?? []} /></code>
    </div>
  );
}
