import { memo, useMemo, useState } from "react";
import { visible } from "~/lib/ansi";
import type { Diff, DiffLine } from "~/lib/diff";
import { count } from "~/lib/format";
import { highlight, languageOf } from "~/lib/highlight";
import { besides, type Pair } from "~/lib/split";
import { Pieces } from "./Pieces";

const MANY = 200;
const LONG = 2000;

/** A diff with old and new beside each other. */
export const SplitDiff = memo(function SplitDiff({ path, diff }: { path: string; diff: Diff }) {
  const [all, setAll] = useState(false);
  const rows = useMemo(() => diff.hunks.flatMap((hunk) => [hunk.label, ...besides(hunk.lines)]), [diff]);
  const shown = all ? rows : rows.slice(0, MANY);
  const language = languageOf(path);
  return (
    <div className="diff split" role="region" aria-label={`Changes to ${path}, side by side`} tabIndex={0}>
      {shown.map((row, at) => (typeof row === "string" ? <div key={at} className="hunk">{row}</div> : <Row key={at} pair={row} language={language} />))}
      {shown.length < rows.length && <button type="button" className="more" onClick={() => setAll(true)}>Show all {count(rows.length)} lines</button>}
    </div>
  );
});

function Row({ pair: [left, right], language }: { pair: Pair; language: string }) {
  return (
    <div className="l2">
      <Side line={left} number={left?.before ?? null} look="m" language={language} />
      <Side line={right} number={right?.after ?? null} look="p" language={language} />
    </div>
  );
}

function Side({ line, number, look, language }: { line: DiffLine | null; number: number | null; look: "m" | "p"; language: string }) {
  if (!line) return <div className="l none" />;
  return (
    <div className={`l ${line.kind === "same" ? "" : look}`}>
      <i>{number}</i>
      <code>
        {line.words.map((word, at) => {
          const pieces = highlight(visible(word.text.slice(0, LONG)), language);
          return word.mark ? <mark key={at}><Pieces pieces={pieces} /></mark> : <Pieces key={at} pieces={pieces} />;
        })}
      </code>
    </div>
  );
}
