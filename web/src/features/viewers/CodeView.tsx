import { memo, useMemo, useState } from "react";
import { visible } from "~/lib/ansi";
import { count } from "~/lib/format";
import { highlight, languageOf } from "~/lib/highlight";
import { Pieces } from "~/ui/Pieces";

const MANY = 2_000;
const LONG = 2_000;

type Props = { path: string; text: string; marked?: ReadonlySet<number> };

/** A text with its line numbers; changed lines have a bar. */
export const CodeView = memo(function CodeView({ path, text, marked }: Props) {
  const [all, setAll] = useState(false);
  const lines = useMemo(() => coloured(path, text), [path, text]);
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

type Piece = { text: string; className: string };

/** Coloured as a whole, so that what spans lines is coloured right, then cut at line ends. */
function coloured(path: string, text: string): Piece[][] {
  const lines: Piece[][] = [[]];
  for (const piece of highlight(text.replace(/\r\n/g, "\n"), languageOf(path))) {
    piece.text.split("\n").forEach((part, at) => {
      if (at > 0) lines.push([]);
      const cut = part.length > LONG ? `${part.slice(0, LONG)}…` : part;
      if (cut) lines.at(-1)?.push({ text: visible(cut), className: piece.className });
    });
  }
  if (lines.length > 1 && lines.at(-1)?.length === 0) lines.pop();
  return lines;
}
