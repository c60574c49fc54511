// What stands on a slide, and where. Enough to read it as it was meant; not every effect.
import { all } from "../zip";
import type { Chart } from "../charts/read";
import { colourOf, type Theme } from "./colour";
import { formOf, isLine, RECT, type Form } from "./forms";
import { gradientOf, type Gradient } from "./paint";
import { connectorOf, type Connector } from "./connector";
import { graphicId, type Graphic } from "./graphics";
import { tableLook } from "./tableLook";
import { child, paragraphsOf, type Paragraph } from "./text";

/** Places and sizes are parts of the slide, 0 to 1. */
type Frame = { x: number; y: number; w: number; h: number; turn: number };
export type Look = { fill: string | null; gradient: Gradient | null; /** A picture that fills it. */ picture: string | null; line: string | null; lineWidth: number; isDashed: boolean; form: Form };
/** Parts of a picture that are cut off: above, right, below, left. */
export type Crop = readonly [top: number, right: number, bottom: number, left: number];
export type Shape = Frame & (
  | { kind: "text"; paragraphs: Paragraph[]; look: Look; anchor: "start" | "center" | "end"; insets: [number, number, number, number]; isTitle: boolean; /** Else its lines end only where paragraphs do. */ wraps: boolean; /** Lines that run downwards, or upwards. */ upright: "no" | "down" | "up"; /** The file says where its text stands; else its form does. */ hasOwnRoom: boolean }
  | { kind: "picture"; path: string; alt: string; crop: Crop; flipH: boolean; flipV: boolean }
  | ({ kind: "line" } & Connector)
  | { kind: "table"; columns: number[]; rows: { height: number; cells: Cell[] }[] }
  | { kind: "chart"; chart: Chart; ink: string }
  | { kind: "other"; what: string }
);
export type Cell = { paragraphs: Paragraph[]; fill: string | null; column: number; span: number; rows: number; edge: string | null; /** Above, right, below, left, as a style sheet writes them. */ borders: readonly (string | null)[]; anchor: "start" | "center" | "end" };

/** The nearest of what describes a placeholder, first: the layout's, then the master's. */
export type Places = (node: Element) => readonly Element[];
export type Source = { theme: Theme; places: Places; styles: (node: Element) => readonly Element[]; relations: ReadonlyMap<string, string>; graphics: ReadonlyMap<string, Graphic>; cx: number; cy: number };

type Box = { x: number; y: number; w: number; h: number };
/** From the coordinates of a group to those of the slide. */
type Map2 = (box: Box) => Box;

export function shapesOf(tree: Element, source: Source, isDrawn: (node: Element) => boolean = () => true, map: Map2 = (box) => box): Shape[] {
  return [...tree.children].flatMap((node): Shape[] => {
    if (!isDrawn(node)) return [];
    if (node.localName === "grpSp") return turnedGroup(node, source, map, shapesOf(node, source, isDrawn, within(node, map)));
    if (node.localName === "AlternateContent") return alternative(node, source, isDrawn, map);
    const frame = frameOf(node, source, map);
    if (!frame) return [];
    switch (node.localName) {
      case "sp":
        return textBox(node, source, frame);
      case "pic":
        return picture(node, source, frame);
      case "cxnSp":
        return line(node, source, frame);
      case "graphicFrame":
        return graphic(node, source, frame, map);
      default:
        return [];
    }
  });
}

/** The same thing in several ways: the last is the one for programs that know little. */
function alternative(node: Element, source: Source, isDrawn: (node: Element) => boolean, map: Map2): Shape[] {
  const ways = [...node.children].map((way) => shapesOf(way, source, isDrawn, map));
  return ways.findLast((shapes) => shapes.length > 0) ?? [];
}

function within(group: Element, outer: Map2): Map2 {
  const frame = child(group, "grpSpPr") && child(child(group, "grpSpPr")!, "xfrm");
  const own = frame && boxOf(frame, "off", "ext");
  const inner = frame && boxOf(frame, "chOff", "chExt");
  if (!own || !inner || inner.w === 0 || inner.h === 0) return outer;
  const [sx, sy] = [own.w / inner.w, own.h / inner.h];
  return (box) => outer({ x: own.x + (box.x - inner.x) * sx, y: own.y + (box.y - inner.y) * sy, w: box.w * sx, h: box.h * sy });
}

/** Members of a turned group go round its middle, and turn with it. */
function turnedGroup(group: Element, { cx, cy }: Source, map: Map2, members: Shape[]): Shape[] {
  const frame = child(group, "grpSpPr") && child(child(group, "grpSpPr")!, "xfrm");
  const own = frame && boxOf(frame, "off", "ext");
  const turn = Number(frame?.getAttribute("rot") ?? 0) / 60_000;
  if (!own || !turn) return members;
  const box = map(own);
  const [middleX, middleY, angle] = [box.x + box.w / 2, box.y + box.h / 2, (turn * Math.PI) / 180];
  return members.map((one) => {
    const [x, y] = [(one.x + one.w / 2) * cx - middleX, (one.y + one.h / 2) * cy - middleY];
    const [toX, toY] = [x * Math.cos(angle) - y * Math.sin(angle) + middleX, x * Math.sin(angle) + y * Math.cos(angle) + middleY];
    return { ...one, x: toX / cx - one.w / 2, y: toY / cy - one.h / 2, turn: one.turn + turn };
  });
}

function boxOf(frame: Element, offset: string, extent: string): Box | null {
  const [off, ext] = [child(frame, offset), child(frame, extent)];
  if (!off || !ext) return null;
  const at = (element: Element, name: string) => Number(element.getAttribute(name) ?? 0) || 0;
  return { x: at(off, "x"), y: at(off, "y"), w: at(ext, "cx"), h: at(ext, "cy") };
}

function frameOf(node: Element, source: Source, map: Map2): Frame | null {
  const own = (one: Element) => child(one, "xfrm") ?? (child(one, "spPr") && child(child(one, "spPr")!, "xfrm"));
  const frame = [node, ...source.places(node)].map(own).find((one) => one !== undefined && one.children.length > 0);
  const box = frame && boxOf(frame, "off", "ext");
  if (!box) return null;
  const { x, y, w, h } = map(box);
  return { x: x / source.cx, y: y / source.cy, w: w / source.cx, h: h / source.cy, turn: Number(frame!.getAttribute("rot") ?? 0) / 60_000 };
}

function textBox(node: Element, source: Source, frame: Frame): Shape[] {
  const chain = [node, ...source.places(node)];
  const body = child(node, "txBody");
  const isTitle = /title/i.test(all(node, "ph")[0]?.getAttribute("type") ?? "");
  const lists = chain.slice(1).flatMap((one) => child(one, "txBody") ?? []).flatMap((one) => child(one, "lstStyle") ?? []);
  const styled = child(node, "style");
  const colour = styled && child(styled, "fontRef") ? colourOf(child(styled, "fontRef"), source.theme) : null;
  const paragraphs = paragraphsOf(body, { lists: [...lists, ...source.styles(node)], usualSize: isTitle ? 40 : 18, theme: source.theme, colour });
  const look = lookOf(chain, styled, source);
  // Some programs write lines as shapes.
  if (isLine(look.form) && paragraphs.every((one) => one.runs.length === 0)) return line(node, source, frame);
  if (paragraphs.every((one) => one.runs.length === 0) && !look.fill && !look.gradient && !look.picture && !look.line) return [];
  const frames = chain.flatMap((one) => child(one, "txBody") ?? []).flatMap((one) => child(one, "bodyPr") ?? []);
  const say = (name: string) => frames.find((one) => one.hasAttribute(name))?.getAttribute(name);
  const room = textRoom(node);
  const inset = (name: string, usual: number, at: number) => Math.max(0, Number(say(name) ?? usual) + room[at]!) / 12_700;
  const anchor = ({ ctr: "center", b: "end" } as const)[say("anchor") ?? ""] ?? "start";
  return [{ ...frame, kind: "text", paragraphs, look, anchor, isTitle, wraps: say("wrap") !== "none", upright: ({ vert: "down", eaVert: "down", wordArtVert: "down", vert270: "up" } as const)[say("vert") ?? ""] ?? "no", hasOwnRoom: child(node, "txXfrm") !== undefined, insets: [inset("tIns", 45_720, 0), inset("rIns", 91_440, 1), inset("bIns", 45_720, 2), inset("lIns", 91_440, 3)] }];
}

/** How far the text of a diagram's shape stays from its edges: above, right, below, left. Others have no room of their own. */
function textRoom(node: Element): [number, number, number, number] {
  const [text, own] = [child(node, "txXfrm"), child(node, "spPr") && child(child(node, "spPr")!, "xfrm")];
  const [inner, outer] = [text && boxOf(text, "off", "ext"), own && boxOf(own, "off", "ext")];
  // One that is turned has its room turned with it; it is read well enough without.
  if (!inner || !outer || text?.hasAttribute("rot")) return [0, 0, 0, 0];
  return [inner.y - outer.y, outer.x + outer.w - inner.x - inner.w, outer.y + outer.h - inner.y - inner.h, inner.x - outer.x];
}

/** Widths of the lines that Office's themes number. */
const USUAL_WIDTHS = [9_525, 9_525, 25_400, 38_100];

function lookOf(chain: readonly Element[], styled: Element | undefined, { theme, relations }: Pick<Source, "theme" | "relations">): Look {
  const own = chain.flatMap((one) => child(one, "spPr") ?? []);
  const nearest = (...names: string[]) => own.flatMap((one) => [...one.children].filter((part) => names.includes(part.localName)))[0];
  const paint = nearest("solidFill", "gradFill", "noFill", "blipFill", "pattFill");
  const byStyle = (name: string) => {
    const reference = styled && child(styled, name);
    return reference && reference.getAttribute("idx") !== "0" ? colourOf(reference, theme) : null;
  };
  const fill = !paint ? byStyle("fillRef") : paint.localName === "gradFill" ? colourOf(all(paint, "gs")[0], theme) : paint.localName === "solidFill" ? colourOf(paint, theme) : null;
  const edge = nearest("ln");
  const dash = edge && child(edge, "prstDash")?.getAttribute("val");
  const line = edge ? (child(edge, "noFill") ? null : (colourOf(child(edge, "solidFill"), theme) ?? byStyle("lnRef"))) : byStyle("lnRef");
  return { fill, gradient: gradientOf(paint, theme), picture: paint?.localName === "blipFill" ? (embedded(paint, relations) ?? null) : null, line, isDashed: Boolean(dash) && dash !== "solid", lineWidth: Number(edge?.getAttribute("w") ?? USUAL_WIDTHS[Number((styled && child(styled, "lnRef"))?.getAttribute("idx") ?? 1)] ?? 9_525) / 12_700, form: formOf(own.find((one) => child(one, "prstGeom") ?? child(one, "custGeom"))) };
}

/** The picture that a fill refers to. */
export function embedded(fill: Element, relations: ReadonlyMap<string, string>): string | undefined {
  const blip = all(fill, "blip")[0];
  const id = blip && [...blip.attributes].find((attribute) => /(?:^|:)embed$/.test(attribute.name))?.value;
  return id ? relations.get(id) : undefined;
}

function picture(node: Element, { relations }: Source, frame: Frame): Shape[] {
  const path = embedded(node, relations);
  const cut = all(node, "srcRect")[0];
  const part = (name: string) => Math.max(0, Math.min(0.99, Number(cut?.getAttribute(name) ?? 0) / 100_000 || 0));
  const { flipH, flipV } = formOf(child(node, "spPr"));
  return path ? [{ ...frame, kind: "picture", path, alt: all(node, "cNvPr")[0]?.getAttribute("descr") ?? "", crop: [part("t"), part("r"), part("b"), part("l")], flipH, flipV }] : [];
}

function line(node: Element, source: Source, frame: Frame): Shape[] {
  const look = lookOf([node], child(node, "style"), source);
  return [{ ...frame, kind: "line", ...connectorOf(node), colour: look.line ?? source.theme.get("tx1") ?? "#444444", width: look.lineWidth }];
}

/** What a frame holds: a table in itself, or something in a part of its own. */
function graphic(node: Element, source: Source, frame: Frame, map: Map2): Shape[] {
  const found = all(node, "tbl")[0];
  if (found) return table(found, node, source, frame);
  const held = source.graphics.get(graphicId(node) ?? "");
  if (held?.kind === "chart") return [{ ...frame, kind: "chart", chart: held.chart, ink: source.theme.get("tx1") ?? "#404040" }];
  if (held?.kind === "diagram") return diagram(held, node, source, frame, map);
  return [{ ...frame, kind: "other", what: all(node, "chart").length > 0 ? "Chart" : "Drawing" }];
}

function diagram(held: Extract<Graphic, { kind: "diagram" }>, node: Element, source: Source, frame: Frame, map: Map2): Shape[] {
  const place = child(node, "xfrm") && boxOf(child(node, "xfrm")!, "off", "ext");
  // Its drawing counts from the corner of its frame, and has no places that a layout fills.
  const own: Source = { ...source, places: () => [], relations: held.relations, graphics: new Map() };
  const shapes = held.tree && place ? shapesOf(held.tree, own, undefined, (box) => map({ ...box, x: place.x + box.x, y: place.y + box.y })) : [];
  if (shapes.length > 0) return shapes;
  if (held.texts.length === 0) return [{ ...frame, kind: "other", what: "Diagram" }];
  const size = Math.max(10, Math.min(24, (frame.h * source.cy) / 12_700 / held.texts.length / 1.4));
  const paragraphs = held.texts.map((text): Paragraph => ({ runs: [{ text, bold: false, italic: false, underline: false, strike: false, raised: "no", size, colour: null }], bullet: "•", align: "left", isRtl: false, indent: size, hang: size, size, before: 0, after: 0, line: 1.2 }));
  return [{ ...frame, kind: "text", paragraphs, look: { fill: null, gradient: null, picture: null, line: null, lineWidth: 0, isDashed: false, form: RECT }, anchor: "start", isTitle: false, wraps: true, upright: "no", hasOwnRoom: false, insets: [4, 7, 4, 7] }];
}

function table(found: Element, node: Element, source: Source, frame: Frame): Shape[] {
  const sizes = (elements: readonly Element[], name: string) => {
    const all = elements.map((one) => Number(one.getAttribute(name) ?? 0));
    const sum = all.reduce((a, b) => a + b, 0) || 1;
    return all.map((one) => one / sum);
  };
  const lines = all(found, "tr");
  const heights = sizes(lines, "h");
  const columns = sizes(all(found, "gridCol"), "w");
  const look = tableLook(found, source.theme, lines.length, columns.length);
  const rows = lines.map((row, at) => ({
    height: heights[at] ?? 0,
    cells: [...row.children].filter((cell) => cell.localName === "tc").flatMap((cell, column): Cell[] => {
      if (["hMerge", "vMerge"].some((name) => ["1", "true"].includes(cell.getAttribute(name) ?? ""))) return [];
      const style = look(at, column);
      const properties = child(cell, "tcPr");
      const own = properties && colourOf(child(properties, "solidFill"), source.theme);
      const paragraphs = paragraphsOf(child(cell, "txBody"), { lists: source.styles(node), usualSize: 18, theme: source.theme, colour: style.ink });
      return [{
        paragraphs: style.isBold ? paragraphs.map((one) => ({ ...one, runs: one.runs.map((run) => ({ ...run, bold: true })) })) : paragraphs,
        fill: own ?? (properties && child(properties, "noFill") ? null : style.fill),
        edge: style.edge,
        borders: ["lnT", "lnR", "lnB", "lnL"].map((name) => borderOf(properties && child(properties, name), source.theme)),
        anchor: ({ ctr: "center", b: "end" } as const)[properties?.getAttribute("anchor") ?? ""] ?? "start",
        column,
        span: Number(cell.getAttribute("gridSpan") ?? 1),
        rows: Number(cell.getAttribute("rowSpan") ?? 1),
      }];
    }),
  }));
  return [{ ...frame, kind: "table", columns, rows }];
}

function borderOf(edge: Element | undefined, theme: Theme): string | null {
  if (!edge) return null;
  const colour = colourOf(child(edge, "solidFill"), theme);
  return colour ? `${Math.max(1, Math.round(Number(edge.getAttribute("w") ?? 12_700) / 12_700))}px solid ${colour}` : child(edge, "noFill") ? "none" : null;
}
