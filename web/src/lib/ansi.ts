/** What a program printed, as pieces of text with one class each. Colours become tokens of the page; all other control
 *  characters are shown, never obeyed: an output must not hide a part of itself. */

/** A piece of output. */
export interface Piece {
  text: string;
  /** Of `chat.css`, or empty. */
  className: string;
}

const SGR = /\u001b\[([\d;]*)m/g;
const COLOURS: Record<number, string> = { 30: "d", 31: "e", 32: "a", 33: "w", 34: "b", 35: "p", 36: "b", 90: "d", 91: "e", 92: "a", 93: "w", 94: "b", 95: "p", 96: "b" };

/** Reads an output. */
export function pieces(text: string): Piece[] {
  const out: Piece[] = [];
  let colour = "";
  let weight = "";
  let at = 0;
  const push = (end: number) => {
    if (end > at) out.push({ text: visible(text.slice(at, end)), className: [colour, weight].filter(Boolean).join(" ") });
  };
  for (const mark of text.matchAll(SGR)) {
    push(mark.index);
    at = mark.index + mark[0].length;
    for (const code of (mark[1] || "0").split(";").map(Number)) {
      if (code === 0) colour = weight = "";
      else if (code === 1) weight = "hi";
      else if (code === 2) colour = "d";
      else if (code === 22) weight = "";
      else if (code === 39) colour = "";
      else colour = COLOURS[code] ?? colour;
    }
  }
  push(text.length);
  return out;
}

// eslint-disable-next-line no-control-regex
const HIDDEN = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]/g;

/** Characters that draw nothing, or that change how others are drawn. */
const UNSEEN = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff9-\ufffb\u{e0000}-\u{e0fff}]/gu;

/** A text somebody is asked to agree to, with every character that would not be seen made visible. */
export function exactly(text: string): string {
  return text.replace(UNSEEN, sign);
}

/** Control characters and those that turn the direction of writing, as signs that can be seen. */
export function visible(text: string): string {
  return text.replace(/\r\n/g, "\n").replace(HIDDEN, sign);
}

function sign(c: string): string {
  const code = c.codePointAt(0)!;
  if (code < 0x20) return `^${String.fromCharCode(0x40 + code)}`;
  if (code === 0x7f) return "^?";
  return `⟨${code.toString(16).toUpperCase().padStart(4, "0")}⟩`;
}
