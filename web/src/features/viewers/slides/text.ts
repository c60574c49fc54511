// Texts of slides: what a paragraph says itself, and else what its place, the layout and the master say.
import { all } from "../zip";
import { colourOf, type Theme } from "./colour";

export type Run = { text: string; bold: boolean; italic: boolean; underline: boolean; strike: boolean; raised: "no" | "super" | "sub"; size: number; colour: string | null };
/** `indent` and `hang` in points: where lines begin, and how far left of it the bullet stands. */
export type Paragraph = { runs: Run[]; bullet: string | null; align: "left" | "center" | "right" | "justify"; isRtl: boolean; indent: number; hang: number; size: number; /** Space above and below in points. */ before: number; after: number; /** Height of a line: a factor, or points as a text. */ line: number | `${number}pt` };

const EMU_PER_PT = 12_700;

/** Where to look for what a paragraph does not say: lists of styles by level, the nearest first. */
export type Styles = { lists: readonly Element[]; usualSize: number; theme: Theme; /** What the shape's style says, which goes before what the master says. */ colour?: string | null };

export function paragraphsOf(body: Element | undefined, styles: Styles): Paragraph[] {
  if (!body) return [];
  const scale = Number(all(body, "normAutofit")[0]?.getAttribute("fontScale") ?? 100_000) / 100_000;
  const counts: number[] = [];
  const own = [...body.children].filter((child) => child.localName === "lstStyle");
  const lists = [...own, ...styles.lists];
  return [...body.children].filter((child) => child.localName === "p").map((node) => {
    const level = Math.min(8, Number(child(node, "pPr")?.getAttribute("lvl") ?? 0));
    counts.length = level + 1;
    return paragraph(node, level, { ...styles, lists }, own.length, scale, counts);
  });
}

function paragraph(node: Element, level: number, styles: Styles, ownLists: number, scale: number, counts: number[]): Paragraph {
  const look = child(node, "pPr");
  const levels = [look, ...styles.lists.map((list) => child(list, `lvl${level + 1}pPr`) ?? child(list, "defPPr"))].filter((one) => one !== undefined);
  const defaults = levels.flatMap((one) => child(one, "defRPr") ?? []);
  const nearest = [look, ...styles.lists.slice(0, ownLists).map((list) => child(list, `lvl${level + 1}pPr`))].flatMap((one) => (one && child(one, "defRPr")) ?? []);
  const colourOfRun = (style: Element | undefined) => (styles.colour ? firstColour([style, ...nearest], styles.theme) ?? styles.colour : firstColour([style, ...defaults], styles.theme));
  const ends = child(node, "endParaRPr");
  const sizeOf = (style: Element | undefined) => (number([style, ...defaults], "sz") ?? styles.usualSize * 100) / 100 * scale;
  const runs = [...node.children].flatMap((part): Run[] => {
    const style = child(part, "rPr");
    const chain = [style, ...defaults];
    const link = style && child(style, "hlinkClick") && styles.theme.get("hlink");
    const rise = Number(word(chain, "baseline") ?? 0);
    const looks: Omit<Run, "text"> = { bold: flag(chain, "b"), italic: flag(chain, "i"), underline: (word(chain, "u") ?? "none") !== "none" || Boolean(link), strike: (word(chain, "strike") ?? "noStrike") !== "noStrike", raised: rise > 0 ? "super" : rise < 0 ? "sub" : "no", size: sizeOf(style), colour: link || colourOfRun(style) };
    if (part.localName === "br") return [{ ...looks, text: "\n" }];
    if (part.localName !== "r" && part.localName !== "fld") return [];
    return [{ ...looks, text: all(part, "t").map((text) => text.textContent ?? "").join("") }];
  }).filter((run) => run.text !== "");
  const algn = word(levels, "algn") ?? "l";
  const bullet = runs.length > 0 ? bulletOf(levels, level, counts) : null;
  const size = runs[0]?.size ?? sizeOf(ends);
  const isRtl = flag(levels, "rtl");
  return {
    runs,
    bullet,
    isRtl,
    before: spaceOf(levels, "spcBef", size),
    after: spaceOf(levels, "spcAft", size),
    line: lineOf(levels, scale),
    align: ({ ctr: "center", r: "right", just: "justify" } as const)[algn] ?? "left",
    indent: (number(levels, "marL") ?? (look ? level * 342_900 : 0)) / EMU_PER_PT,
    hang: Math.max(0, -(number(levels, "indent") ?? 0)) / EMU_PER_PT,
    size,
  };
}

/** Space above or below a paragraph, in points or as a part of its letters. */
function spaceOf(levels: readonly Element[], name: string, size: number): number {
  const space = levels.flatMap((one) => child(one, name) ?? [])[0];
  if (!space) return 0;
  const part = Number(child(space, "spcPct")?.getAttribute("val") ?? 0) / 100_000;
  const points = Number(child(space, "spcPts")?.getAttribute("val") ?? 0) / 100;
  return Math.max(0, Math.min(500, (part * size || 0) + (points || 0)));
}

function lineOf(levels: readonly Element[], scale: number): Paragraph["line"] {
  const space = levels.flatMap((one) => child(one, "lnSpc") ?? [])[0];
  const points = Number((space && child(space, "spcPts"))?.getAttribute("val") ?? Number.NaN) / 100;
  if (Number.isFinite(points)) return `${Math.max(1, Math.min(500, points * scale))}pt`;
  const part = Number((space && child(space, "spcPct"))?.getAttribute("val") ?? 100_000) / 100_000;
  return Math.max(0.5, Math.min(5, part || 1)) * 1.2;
}

/** The nearest that says anything about bullets decides. Numbers count on in their level. */
function bulletOf(levels: readonly Element[], level: number, counts: number[]): string | null {
  for (const one of levels) {
    if (child(one, "buNone")) return null;
    const char = child(one, "buChar")?.getAttribute("char");
    // Fonts of signs draw arrows and squares where others have letters.
    if (char) return /[\u2000-\u2bff•·–—\-*>»o§]/.test(char) && char !== "§" && char !== "o" ? char : "•";
    const numbered = child(one, "buAutoNum");
    if (!numbered) continue;
    counts[level] = (counts[level] ?? Number(numbered.getAttribute("startAt") ?? 1) - 1) + 1;
    const kind = numbered.getAttribute("type") ?? "arabicPeriod";
    const n = counts[level];
    const sign = kind.startsWith("alpha") ? String.fromCharCode(97 + ((n - 1) % 26)) : String(n);
    return `${kind.includes("Uc") ? sign.toUpperCase() : sign}${kind.endsWith("ParenR") ? ")" : "."}`;
  }
  return null;
}

type Chain = readonly (Element | undefined)[];

const word = (chain: Chain, name: string): string | null => chain.find((one) => one?.hasAttribute(name))?.getAttribute(name) ?? null;
const flag = (chain: Chain, name: string): boolean => ["1", "true"].includes(word(chain, name) ?? "");
const number = (chain: Chain, name: string): number | null => {
  const value = Number(word(chain, name) ?? Number.NaN);
  return Number.isFinite(value) ? value : null;
};

function firstColour(chain: Chain, theme: Theme): string | null {
  for (const one of chain) {
    const colour = one && colourOf(child(one, "solidFill"), theme);
    if (colour) return colour;
  }
  return null;
}

/** The child of a name, whatever its prefix. */
export const child = (node: Element, name: string): Element | undefined => [...node.children].find((one) => one.localName === name);
