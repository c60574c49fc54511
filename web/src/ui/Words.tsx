import type { Piece } from "~/lib/ansi";
import { visible } from "~/lib/ansi";
import { partOf, type Word } from "~/lib/diff";
import { between } from "~/lib/highlight";
import { Pieces } from "./Pieces";

/** A line of a diff in the colours of its language, with the changed words marked. Of a long line the part that changed is shown. */
export function Words({ words, pieces }: { words: readonly Word[]; pieces: readonly Piece[] }) {
  const { from, to, total } = partOf(words);
  let at = 0;
  const shown = words.map((word, n) => {
    const begins = at;
    at += word.text.length;
    const parts = between(pieces, Math.max(begins, from), Math.min(at, to)).map((piece) => ({ ...piece, text: visible(piece.text) }));
    return word.mark ? <mark key={n}><Pieces pieces={parts} /></mark> : <Pieces key={n} pieces={parts} />;
  });
  return (
    <>
      <Cut n={from} side="before" />
      {shown}
      <Cut n={total - to} side="after" />
    </>
  );
}

function Cut({ n, side }: { n: number; side: "before" | "after" }) {
  if (n === 0) return null;
  return <span className="muted" data-cut>{side === "before" ? `${n.toLocaleString("en")} characters … ` : ` … ${n.toLocaleString("en")} more characters`}</span>;
}
