// Search in a PDF: where a text occurs on its pages. Pure.

/** One occurrence: a page, and a range of characters in the text of that page. */
export type Match = { page: number; from: number; to: number };
/** A place inside one of the pieces that a page's text consists of. */
export type Place = { piece: number; offset: number };

/** The text of a page. Pieces follow each other without a gap, as in the page's text layer. */
export const textOfPage = (pieces: readonly string[]): string => pieces.join("");

/** All occurrences in reading order; upper and lower case are the same. `pages[0]` is page 1. */
export function findAll(pages: readonly (readonly string[])[], wanted: string): Match[] {
  const words = folded(wanted);
  if (words.trim() === "") return [];
  return pages.flatMap((pieces, at) => {
    const text = folded(textOfPage(pieces));
    const found: Match[] = [];
    for (let from = text.indexOf(words); from >= 0; from = text.indexOf(words, from + words.length)) found.push({ page: at + 1, from, to: from + words.length });
    return found;
  });
}

/** The piece and the offset in it of a character of the page's text. `isEnd`: the end of a range stays in the piece it closes. */
export function placeOf(pieces: readonly string[], offset: number, isEnd: boolean): Place | null {
  let before = 0;
  for (const [piece, text] of pieces.entries()) {
    const after = before + text.length;
    if (isEnd ? offset <= after && offset > before : offset < after) return { piece, offset: offset - before };
    before = after;
  }
  return null;
}

/** Lower case, one character for one, so that offsets stay those of the original. */
const folded = (text: string): string => [...text.replace(/\s/g, " ")].map((c) => (c.toLowerCase().length === c.length ? c.toLowerCase() : c)).join("");
