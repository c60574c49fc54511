import { memo, useMemo, useState } from "react";
import type { Diff, DiffLine } from "~/lib/diff";
import { count } from "~/lib/format";
import { highlight, languageOf } from "~/lib/highlight";
import { visible } from "~/lib/ansi";
import { Pieces } from "./Pieces";

/** More lines than this are shown on demand. */
const MANY = 200;
/** A longer line is cut. */
const LONG = 2000;

type Props = { path: string; diff: Diff; label?: string };

/** A diff: hunk labels, old and new numbers, sign, code with the changed words marked. */
export const DiffView = memo(function DiffView({ path, diff, label = `Changes to ${path}` }: Props) {
  const [all, setAll] = useState(false);
  const lines = useMemo(() => diff.hunks.flatMap((hunk) => [hunk.label, ...hunk.lines]), [diff]);
  const language = languageOf(path);
  const shown = all ? lines : lines.slice(0, MANY);
  return (
    <div className="diff" role="region" aria-label={label} tabIndex={0}>
      {shown.map((line, at) =>
        typeof line === "string" ? (
          <div key={at} className="hunk">
            {line}
          </div>
        ) : (
          <Line key={at} line={line} language={language} />
        ),
      )}
      {shown.length < lines.length && (
        <button type="button" className="more" onClick={() => setAll(true)}>
          Show all {count(lines.length)} lines
        </button>
      )}
    </div>
  );
});

const LOOK = { same: ["", "", ""], add: ["p", "+", "added"], del: ["m", "−", "removed"] } as const;

function Line({ line, language }: { line: DiffLine; language: string }) {
  const [look, sign, said] = LOOK[line.kind];
  return (
    <div className={`l ${look}`}>
      <i>{line.before}</i>
      <i>{line.after}</i>
      <em aria-label={said || undefined} role={said ? "img" : undefined}>{sign}</em>
      <code>
        {line.words.map((word, at) => {
          const pieces = highlight(visible(word.text.slice(0, LONG)), language);
          return word.mark ? <mark key={at}><Pieces pieces={pieces} /></mark> : <Pieces key={at} pieces={pieces} />;
        })}
      </code>
    </div>
  );
}
