import { memo, useMemo, useState } from "react";
import { visible, type Piece } from "~/lib/ansi";
import { count } from "~/lib/format";
import { byLine, languageOf, useHighlighter, type Paint } from "~/lib/highlight";
import { Pieces } from "~/ui/Pieces";

const MANY = 2_000;
const LONG = 2_000;

type Props = { path: string; text: string; marked?: ReadonlySet<number> };

/** A text with its line numbers; changed lines have a bar. */
export const CodeView = memo(function CodeView({ path, text, marked }: Props) {
  const [all, setAll] = useState(false);
  const paint = useHighlighter(languageOf(path));
  const lines = useMemo(() => coloured(text, paint), [text, paint]);
  const shown = all ? lines : lines.slice(0, MANY);
  return (
    <div className="code" tabIndex={0} role="region" aria-label={path}>
      {shown.map((pieces, at) => (
        <div key={at} className={`l ${marked?.has(at + 1) ? "ch" : ""}`}>
          <i>{at + 1}</i>
          <u />
          <code><Pieces pieces={pieces} /></code>
        </div>
      ))}
      {shown.length < lines.length && <button type="button" className="more" onClick={() => setAll(true)}>Show all {count(lines.length)} lines</button>}
    </div>
  );
});

/** Coloured as a whole, so that a comment over several lines is one, then cut at line ends. */
function coloured(text: string, paint: Paint): Piece[][] {
  const lines = byLine(paint(text.replace(/\r\n/g, "\n"))).map((line) => line.map((piece) => ({ ...piece, text: visible(piece.text.length > LONG ? `${piece.text.slice(0, LONG)}…` : piece.text) })));
  if (lines.length > 1 && lines.at(-1)?.length === 0) lines.pop();
  return lines;
}
