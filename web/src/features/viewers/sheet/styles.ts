// Looks of cells: fonts, fills, borders, alignment and number formats.
import type { CSSProperties } from "react";
import { changed, type Theme } from "../slides/colour";
import { child } from "../slides/text";
import { all } from "../zip";
import type { Look } from "./model";

const PLAIN: Look = { css: {}, format: "General", align: null, wraps: false };

/** Formats that files name by number alone. */
const FORMATS: Record<number, string> = {
  1: "0", 2: "0.00", 3: "#,##0", 4: "#,##0.00", 5: '"$"#,##0;("$"#,##0)', 6: '"$"#,##0;[Red]("$"#,##0)', 7: '"$"#,##0.00;("$"#,##0.00)', 8: '"$"#,##0.00;[Red]("$"#,##0.00)',
  9: "0%", 10: "0.00%", 11: "0.00E+00", 12: "# ?/?", 13: "# ??/??", 14: "yyyy-mm-dd", 15: "d-mmm-yy", 16: "d-mmm", 17: "mmm-yy", 18: "h:mm AM/PM", 19: "h:mm:ss AM/PM", 20: "h:mm", 21: "h:mm:ss", 22: "yyyy-mm-dd h:mm",
  37: "#,##0;(#,##0)", 38: "#,##0;[Red](#,##0)", 39: "#,##0.00;(#,##0.00)", 40: "#,##0.00;[Red](#,##0.00)", 45: "mm:ss", 46: "[h]:mm:ss", 47: "mm:ss.0", 48: "##0.0E+0", 49: "@",
};

export function looksOf(styles: Document | null, theme: Theme): Look[] {
  if (!styles) return [PLAIN];
  const own = new Map(all(styles, "numFmt").map((one) => [Number(one.getAttribute("numFmtId")), one.getAttribute("formatCode") ?? "General"]));
  const list = (name: string) => [...(all(styles, name)[0]?.children ?? [])];
  const [fonts, fills, borders] = [list("fonts"), list("fills"), list("borders")];
  return list("cellXfs").map((xf): Look => {
    const at = (name: string) => Number(xf.getAttribute(name) ?? 0);
    const place = child(xf, "alignment");
    const across = place?.getAttribute("horizontal") ?? "general";
    const css: CSSProperties = { ...fontOf(fonts[at("fontId")], theme), ...fillOf(fills[at("fillId")], theme), ...edgesOf(borders[at("borderId")], theme) };
    const upright = place?.getAttribute("vertical") ?? "bottom";
    css.alignItems = ({ top: "flex-start", center: "center" } as Record<string, string>)[upright] ?? "flex-end";
    const indent = Number(place?.getAttribute("indent") ?? 0);
    if (indent > 0) css.paddingInlineStart = 3 + indent * 9;
    const align = across === "left" || across === "right" ? across : /^center/.test(across) ? "center" : null;
    return { css, format: own.get(at("numFmtId")) ?? FORMATS[at("numFmtId")] ?? "General", align, wraps: place?.getAttribute("wrapText") === "1" };
  });
}

function fontOf(font: Element | undefined, theme: Theme): CSSProperties {
  if (!font) return {};
  const is = (name: string) => child(font, name) !== undefined && !["0", "false", "none"].includes(child(font, name)?.getAttribute("val") ?? "1");
  const size = Number(child(font, "sz")?.getAttribute("val") ?? 11);
  const lines = [is("u") && "underline", is("strike") && "line-through"].filter(Boolean).join(" ");
  return {
    fontWeight: is("b") ? 700 : undefined,
    fontStyle: is("i") ? "italic" : undefined,
    textDecoration: lines || undefined,
    fontSize: Number.isFinite(size) && size !== 11 ? `${Math.min(96, (size * 4) / 3)}px` : undefined,
    color: colourOf(child(font, "color"), theme) ?? undefined,
  };
}

function fillOf(fill: Element | undefined, theme: Theme): CSSProperties {
  const pattern = fill && child(fill, "patternFill");
  if (pattern && (pattern.getAttribute("patternType") ?? "none") !== "none") {
    return { background: colourOf(child(pattern, "fgColor"), theme) ?? undefined };
  }
  const stops = fill ? all(fill, "stop") : [];
  return stops.length > 0 ? { background: colourOf(child(stops[0]!, "color"), theme) ?? undefined } : {};
}

const THICK: Record<string, string> = { medium: "2px solid", thick: "3px solid", double: "3px double", dashed: "1px dashed", mediumDashed: "2px dashed", dotted: "1px dotted", hair: "1px dotted" };

function edgesOf(border: Element | undefined, theme: Theme): CSSProperties {
  const edge = (name: string) => {
    const side = border && child(border, name);
    const style = side?.getAttribute("style");
    return side && style && style !== "none" ? `${THICK[style] ?? "1px solid"} ${colourOf(child(side, "color"), theme) ?? "#000000"}` : undefined;
  };
  const css: CSSProperties = { borderTop: edge("top"), borderRight: edge("right"), borderBottom: edge("bottom"), borderLeft: edge("left") };
  return Object.fromEntries(Object.entries(css).filter(([, value]) => value !== undefined));
}

/** In this order, which is not the one of the theme's own list. */
const BY_NUMBER = ["lt1", "dk1", "lt2", "dk2", "accent1", "accent2", "accent3", "accent4", "accent5", "accent6", "hlink", "folHlink"];
/** The first colours of the old palette; the eight after them are the same ones again. */
const INDEXED = ["#000000", "#ffffff", "#ff0000", "#00ff00", "#0000ff", "#ffff00", "#ff00ff", "#00ffff"];

export function colourOf(node: Element | undefined, theme: Theme): string | null {
  if (!node) return null;
  const tint = Number(node.getAttribute("tint") ?? 0);
  const base = baseOf(node, theme);
  if (!base || tint === 0) return base;
  return tint < 0 ? changed(base, "lumMod", 1 + tint) : changed(changed(base, "lumMod", 1 - tint), "lumOff", tint);
}

function baseOf(node: Element, theme: Theme): string | null {
  const rgb = node.getAttribute("rgb");
  if (rgb && /^[0-9a-f]{6,8}$/i.test(rgb)) return `#${rgb.slice(-6).toLowerCase()}`;
  const number = node.getAttribute("theme");
  if (number !== null) return theme.get(BY_NUMBER[Number(number)] ?? "") ?? (number === "0" ? "#ffffff" : number === "1" ? "#000000" : null);
  const indexed = Number(node.getAttribute("indexed") ?? Number.NaN);
  return indexed < 16 ? (INDEXED[indexed % 8] ?? null) : indexed === 64 ? "#000000" : indexed === 65 ? "#ffffff" : null;
}
