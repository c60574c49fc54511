// Colours of a presentation: of their own, or names in its theme, made lighter or darker.
import { all } from "../zip";

/** Colours by the names that shapes use: `tx1`, `bg1`, `accent1`. */
export type Theme = ReadonlyMap<string, string>;

const NAMES = ["dk1", "lt1", "dk2", "lt2", "accent1", "accent2", "accent3", "accent4", "accent5", "accent6", "hlink", "folHlink"];
/** What the names of text and ground mean, unless the master says otherwise. */
const USUAL = { tx1: "dk1", bg1: "lt1", tx2: "dk2", bg2: "lt2" };

export function readTheme(theme: Document | null, master: Document | null): Theme {
  const found = new Map<string, string>();
  const scheme = theme && all(theme, "clrScheme")[0];
  for (const name of scheme ? NAMES : []) {
    const colour = colourOf([...scheme!.children].find((child) => child.localName === name), found);
    if (colour) found.set(name, colour);
  }
  const map = master && all(master, "clrMap")[0];
  for (const [name, usual] of Object.entries(USUAL)) {
    const colour = found.get(map?.getAttribute(name) ?? usual);
    if (colour) found.set(name, colour);
  }
  return found;
}

/** The colour inside a fill, a line or a scheme's entry; `null` when there is none that can be drawn. */
export function colourOf(holder: Element | undefined, theme: Theme): string | null {
  const node = holder && [...holder.children].find((child) => /Clr$/.test(child.localName));
  if (!node) return null;
  const base = baseOf(node, theme);
  if (!base) return null;
  return [...node.children].reduce((colour, change) => changed(colour, change.localName, Number(change.getAttribute("val") ?? 100_000) / 100_000), base);
}

function baseOf(node: Element, theme: Theme): string | null {
  const value = node.getAttribute("val") ?? "";
  switch (node.localName) {
    case "srgbClr":
      return hex(value);
    case "sysClr":
      return hex(node.getAttribute("lastClr") ?? (value === "window" ? "FFFFFF" : "000000"));
    case "schemeClr":
      return theme.get(value) ?? null;
    case "prstClr":
      return ({ black: "#000000", white: "#ffffff", red: "#ff0000", green: "#008000", blue: "#0000ff", yellow: "#ffff00", gray: "#808080" } as Record<string, string>)[value] ?? null;
    default:
      return null;
  }
}

const hex = (value: string): string | null => (/^[0-9a-f]{6}$/i.test(value) ? `#${value.toLowerCase()}` : null);

/** A colour of six digits, changed by a part of the whole. */
export function changed(colour: string, how: string, part: number): string {
  const rgb = [1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16) / 255) as [number, number, number];
  const rest = colour.slice(7);
  switch (how) {
    case "lumMod":
      return digits(withLightness(rgb, (light) => light * part)) + rest;
    case "lumOff":
      return digits(withLightness(rgb, (light) => light + part)) + rest;
    case "shade":
      return digits(rgb.map((one) => bent(linear(one) * part))) + rest;
    case "tint":
      return digits(rgb.map((one) => bent(1 - (1 - linear(one)) * part))) + rest;
    case "alpha":
      return colour.slice(0, 7) + two(part);
    default:
      return colour;
  }
}

/** Tints and shades are taken of light, not of the numbers that stand for it. */
const linear = (one: number): number => (one <= 0.04045 ? one / 12.92 : ((one + 0.055) / 1.055) ** 2.4);
const bent = (one: number): number => (one <= 0.0031308 ? one * 12.92 : 1.055 * one ** (1 / 2.4) - 0.055);

const two = (part: number): string => Math.round(Math.max(0, Math.min(1, part)) * 255).toString(16).padStart(2, "0");
const digits = (rgb: readonly number[]): string => `#${rgb.map(two).join("")}`;

/** The same hue and saturation in another light. */
function withLightness([r, g, b]: [number, number, number], change: (light: number) => number): number[] {
  const [most, least] = [Math.max(r, g, b), Math.min(r, g, b)];
  const light = (most + least) / 2;
  const spread = most - least;
  const saturation = spread === 0 ? 0 : spread / (1 - Math.abs(2 * light - 1));
  const hue = spread === 0 ? 0 : most === r ? ((g - b) / spread + 6) % 6 : most === g ? (b - r) / spread + 2 : (r - g) / spread + 4;
  const next = Math.max(0, Math.min(1, change(light)));
  const chroma = (1 - Math.abs(2 * next - 1)) * saturation;
  const second = chroma * (1 - Math.abs((hue % 2) - 1));
  const parts = [[chroma, second, 0], [second, chroma, 0], [0, chroma, second], [0, second, chroma], [second, 0, chroma], [chroma, 0, second]][Math.floor(hue) % 6]!;
  return parts.map((one) => one + next - chroma / 2);
}
