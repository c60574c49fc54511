import type { Piece } from "~/lib/ansi";
import { visible } from "~/lib/ansi";
import type { Word } from "~/lib/diff";
import { between } from "~/lib/highlight";
import { Pieces } from "./Pieces";

/** A longer line is cut. */
const LONG = 2000;

/** A line of a diff in the colours of its language, with the changed words marked. */
export function Words({ words, pieces }: { words: readonly Word[]; pieces: readonly Piece[] }) {
  let at = 0;
  return words.map((word, n) => {
    const from = at;
    at += word.text.length;
    const parts = between(pieces, from, Math.min(at, LONG)).map((piece) => ({ ...piece, text: visible(piece.text) }));
    return word.mark ? <mark key={n}><Pieces pieces={parts} /></mark> : <Pieces key={n} pieces={parts} />;
  });
}
