import { memo } from "react";
import type { Piece } from "~/lib/ansi";

/** Text in pieces, each with its class. Always text nodes. */
export const Pieces = memo(function Pieces({ pieces }: { pieces: readonly Piece[] }) {
  return pieces.map((piece, at) =>
    piece.className ? (
      <span key={at} className={piece.className}>
        {piece.text}
      </span>
    ) : (
      piece.text
    ),
  );
});
