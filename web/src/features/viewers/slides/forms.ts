// Outlines of shapes: the presets of Office by their names, and outlines that a file draws itself. Pure.
import { all } from "../zip";
import { child } from "./text";

/** An outline of the file's own, in the file's units. */
export type OwnPath = { d: string; w: number; h: number; isFilled: boolean; isStroked: boolean };
export type Form = { name: string; /** Adjustments by name, in parts of 100,000. */ adjust: Readonly<Record<string, number>>; own: readonly OwnPath[] | null; flipH: boolean; flipV: boolean };
export type Outline = { d: string; isFilled: boolean };

export const RECT: Form = { name: "rect", adjust: {}, own: null, flipH: false, flipV: false };

/** More commands than a shape needs. */
const MAX_COMMANDS = 5_000;

export function formOf(properties: Element | undefined): Form {
  if (!properties) return RECT;
  const [preset, custom, frame] = [child(properties, "prstGeom"), child(properties, "custGeom"), child(properties, "xfrm")];
  const isSet = (name: string) => ["1", "true"].includes(frame?.getAttribute(name) ?? "");
  const adjust: Record<string, number> = {};
  for (const guide of preset ? all(preset, "gd") : []) {
    const value = Number(/val (-?\d+)/.exec(guide.getAttribute("fmla") ?? "")?.[1] ?? Number.NaN);
    if (Number.isFinite(value)) adjust[guide.getAttribute("name") ?? ""] = value / 100_000;
  }
  const own = custom ? ownPaths(custom) : null;
  return { name: preset?.getAttribute("prst") ?? "rect", adjust, own: own && own.length > 0 ? own : null, flipH: isSet("flipH"), flipV: isSet("flipV") };
}

/** Points that are formulas of the file are left out: such an outline falls back to its frame. */
function ownPaths(custom: Element): OwnPath[] {
  return all(custom, "path").slice(0, 50).flatMap((path): OwnPath[] => {
    const [w, h] = [Number(path.getAttribute("w") ?? 0), Number(path.getAttribute("h") ?? 0)];
    const d = [...path.children].slice(0, MAX_COMMANDS).map(command).join("");
    if (!(w > 0) && !(h > 0) || !/^M/.test(d) || d.includes("NaN")) return [];
    return [{ d, w: Math.max(w, 1), h: Math.max(h, 1), isFilled: path.getAttribute("fill") !== "none", isStroked: path.getAttribute("stroke") !== "0" }];
  });
}

function command(node: Element): string {
  const points = all(node, "pt").map((point) => `${Number(point.getAttribute("x") ?? Number.NaN)} ${Number(point.getAttribute("y") ?? Number.NaN)}`).join(" ");
  switch (node.localName) {
    case "moveTo":
      return `M${points}`;
    case "lnTo":
      return `L${points}`;
    case "cubicBezTo":
      return `C${points}`;
    case "quadBezTo":
      return `Q${points}`;
    case "arcTo":
      return arc(node);
    case "close":
      return "Z";
    default:
      return "";
  }
}

/** An arc from where the pen is: by its radii and angles, as relative steps. */
function arc(node: Element): string {
  const at = (name: string) => Number(node.getAttribute(name) ?? Number.NaN);
  const [rx, ry, start, sweep] = [at("wR"), at("hR"), (at("stAng") / 60_000) * (Math.PI / 180), (at("swAng") / 60_000) * (Math.PI / 180)];
  const half = (from: number, by: number) => `a${rx} ${ry} 0 0 ${by > 0 ? 1 : 0} ${rx * (Math.cos(from + by) - Math.cos(from))} ${ry * (Math.sin(from + by) - Math.sin(from))}`;
  return half(start, sweep / 2) + half(start + sweep / 2, sweep / 2);
}

type Draw = (w: number, h: number, adj: (name: string, usual: number) => number) => string;

const poly = (...points: readonly (readonly [number, number])[]): string => `M${points.map(([x, y]) => `${round(x)} ${round(y)}`).join("L")}Z`;
const round = (value: number): number => Math.round(value * 100) / 100;
const oval = (x: number, y: number, rx: number, ry: number): string => `M${round(x - rx)} ${round(y)}a${round(rx)} ${round(ry)} 0 1 1 ${round(rx * 2)} 0a${round(rx)} ${round(ry)} 0 1 1 ${round(-rx * 2)} 0Z`;
const box = (x: number, y: number, w: number, h: number, r = 0): string => (r > 0 ? `M${round(x + r)} ${y}h${round(w - 2 * r)}a${round(r)} ${round(r)} 0 0 1 ${round(r)} ${round(r)}v${round(h - 2 * r)}a${round(r)} ${round(r)} 0 0 1 ${round(-r)} ${round(r)}h${round(2 * r - w)}a${round(r)} ${round(r)} 0 0 1 ${round(-r)} ${round(-r)}v${round(2 * r - h)}a${round(r)} ${round(r)} 0 0 1 ${round(r)} ${round(-r)}Z` : `M${round(x)} ${round(y)}h${round(w)}v${round(h)}h${round(-w)}Z`);

/** Points of a star or a polygon around the middle, the first above. */
const around = (w: number, h: number, n: number, inner = 1): string => poly(...Array.from({ length: inner === 1 ? n : n * 2 }, (_, at): [number, number] => {
  const angle = (at * 2 * Math.PI) / (inner === 1 ? n : n * 2) - Math.PI / 2;
  const part = inner !== 1 && at % 2 === 1 ? inner : 1;
  return [w / 2 + (w / 2) * part * Math.cos(angle), h / 2 + (h / 2) * part * Math.sin(angle)];
}));

const arrow: Draw = (w, h, adj) => {
  const [half, head] = [(h * adj("adj1", 0.5)) / 2, Math.min(w, Math.min(w, h) * adj("adj2", 0.5))];
  return poly([0, h / 2 - half], [w - head, h / 2 - half], [w - head, 0], [w, h / 2], [w - head, h], [w - head, h / 2 + half], [0, h / 2 + half]);
};
const doubleArrow: Draw = (w, h, adj) => {
  const [half, head] = [(h * adj("adj1", 0.5)) / 2, Math.min(w / 2, Math.min(w, h) * adj("adj2", 0.5))];
  return poly([0, h / 2], [head, 0], [head, h / 2 - half], [w - head, h / 2 - half], [w - head, 0], [w, h / 2], [w - head, h], [w - head, h / 2 + half], [head, h / 2 + half], [head, h]);
};
/** A callout's tip, from its middle. */
const tip = (w: number, h: number, adj: (name: string, usual: number) => number): string => {
  const [x, y] = [w / 2 + w * adj("adj1", -0.20833), h / 2 + h * adj("adj2", 0.625)];
  const isBelow = Math.abs((y - h / 2) / h) >= Math.abs((x - w / 2) / w);
  const side = (value: number, size: number) => (value < size / 2 ? [size * 0.17, size * 0.42] : [size * 0.58, size * 0.83]) as [number, number];
  if (isBelow) return poly([side(x, w)[0], y < h / 2 ? 1 : h - 1], [x, y], [side(x, w)[1], y < h / 2 ? 1 : h - 1]);
  return poly([x < w / 2 ? 1 : w - 1, side(y, h)[0]], [x, y], [x < w / 2 ? 1 : w - 1, side(y, h)[1]]);
};
const can: Draw = (w, h, adj) => {
  const r = Math.min(h / 2, (Math.min(w, h) * adj("adj", 0.25)) / 2);
  return `M0 ${round(r)}a${round(w / 2)} ${round(r)} 0 0 1 ${round(w)} 0v${round(h - 2 * r)}a${round(w / 2)} ${round(r)} 0 0 1 ${round(-w)} 0ZM0 ${round(r)}a${round(w / 2)} ${round(r)} 0 0 0 ${round(w)} 0`;
};
const cloud: Draw = (w, h) => {
  const at = ([x, y]: readonly [number, number]) => `${round(x * w)} ${round(y * h)}`;
  const humps = [[0.1, 0.62], [0.09, 0.34], [0.32, 0.12], [0.52, 0.1], [0.72, 0.08], [0.92, 0.22], [0.96, 0.45], [0.93, 0.72], [0.72, 0.88], [0.5, 0.95], [0.3, 0.88], [0.1, 0.62]] as const;
  return `M${at(humps[0])}${humps.slice(1).map((to, n) => {
    const from = humps[n]!;
    const [dx, dy] = [to[0] - from[0], to[1] - from[1]];
    return `C${at([from[0] + dx * 0.1 + dy * 0.55, from[1] + dy * 0.1 - dx * 0.75])} ${at([to[0] - dx * 0.1 + dy * 0.55, to[1] - dy * 0.1 - dx * 0.75])} ${at(to)}`;
  }).join("")}Z`;
};
const ring = (w: number, h: number, part: number): string => oval(w / 2, h / 2, w / 2, h / 2) + oval(w / 2, h / 2, Math.max(0, w / 2 - Math.min(w, h) * part), Math.max(0, h / 2 - Math.min(w, h) * part));
const turned = (draw: Draw): Draw => (w, h, adj) => draw(h, w, adj).replace(/(-?[\d.]+) (-?[\d.]+)/g, (_, x: string, y: string) => `${y} ${round(h - Number(x))}`);
const mirrored = (draw: Draw): Draw => (w, h, adj) => draw(w, h, adj).replace(/(-?[\d.]+) (-?[\d.]+)/g, (_, x: string, y: string) => `${round(w - Number(x))} ${y}`);
const upended = (draw: Draw): Draw => (w, h, adj) => draw(w, h, adj).replace(/(-?[\d.]+) (-?[\d.]+)/g, (_, x: string, y: string) => `${x} ${round(h - Number(y))}`);
const brace: Draw = (w, h, adj) => {
  const [r, y] = [Math.min(h / 4, Math.min(w, h) * adj("adj1", 0.08333)), h * adj("adj2", 0.5)];
  return `M${w} ${h}Q${w / 2} ${h} ${w / 2} ${round(h - r)}L${w / 2} ${round(y + r)}Q${w / 2} ${round(y)} 0 ${round(y)}Q${w / 2} ${round(y)} ${w / 2} ${round(y - r)}L${w / 2} ${round(r)}Q${w / 2} 0 ${w} 0`;
};
const small = (w: number, h: number): number => Math.min(w, h);
const line: Draw = (w, h) => `M0 0L${round(w)} ${round(h)}`;
const diamond: Draw = (w, h) => poly([w / 2, 0], [w, h / 2], [w / 2, h], [0, h / 2]);
const roundRect: Draw = (w, h, adj) => box(0, 0, w, h, Math.min(small(w, h) / 2, small(w, h) * adj("adj", 0.16667)));
const parallelogram: Draw = (w, h, adj) => poly([Math.min(w, small(w, h) * adj("adj", 0.25)), 0], [w, 0], [w - Math.min(w, small(w, h) * adj("adj", 0.25)), h], [0, h]);

const DRAWN: Record<string, Draw> = {
  roundRect, round2SameRect: roundRect, round1Rect: roundRect, flowChartAlternateProcess: roundRect, flowChartTerminator: (w, h) => box(0, 0, w, h, small(w, h) / 2),
  ellipse: (w, h) => oval(w / 2, h / 2, w / 2, h / 2), flowChartConnector: (w, h) => oval(w / 2, h / 2, w / 2, h / 2),
  triangle: (w, h, adj) => poly([w * adj("adj", 0.5), 0], [w, h], [0, h]), rtTriangle: (w, h) => poly([0, 0], [w, h], [0, h]), flowChartMerge: (w, h) => poly([0, 0], [w, 0], [w / 2, h]),
  diamond, flowChartDecision: diamond, parallelogram, flowChartInputOutput: parallelogram,
  trapezoid: (w, h, adj) => poly([small(w, h) * adj("adj", 0.25), 0], [w - small(w, h) * adj("adj", 0.25), 0], [w, h], [0, h]),
  flowChartManualOperation: (w, h) => poly([0, 0], [w, 0], [w * 0.8, h], [w * 0.2, h]), flowChartManualInput: (w, h) => poly([0, h * 0.2], [w, 0], [w, h], [0, h]),
  hexagon: (w, h, adj) => { const x = Math.min(w / 2, small(w, h) * adj("adj", 0.25)); return poly([x, 0], [w - x, 0], [w, h / 2], [w - x, h], [x, h], [0, h / 2]); },
  flowChartPreparation: (w, h) => poly([w * 0.2, 0], [w * 0.8, 0], [w, h / 2], [w * 0.8, h], [w * 0.2, h], [0, h / 2]),
  octagon: (w, h, adj) => { const x = small(w, h) * adj("adj", 0.29289); return poly([x, 0], [w - x, 0], [w, x], [w, h - x], [w - x, h], [x, h], [0, h - x], [0, x]); },
  snip1Rect: (w, h) => poly([0, 0], [w - small(w, h) / 6, 0], [w, small(w, h) / 6], [w, h], [0, h]), foldedCorner: (w, h) => poly([0, 0], [w, 0], [w, h - small(w, h) / 6], [w - small(w, h) / 6, h], [0, h]),
  pentagon: (w, h) => around(w, h, 5), heptagon: (w, h) => around(w, h, 7), decagon: (w, h) => around(w, h, 10),
  star4: (w, h) => around(w, h, 4, 0.38), star5: (w, h) => around(w, h, 5, 0.4), star6: (w, h) => around(w, h, 6, 0.577), star7: (w, h) => around(w, h, 7, 0.64), star8: (w, h) => around(w, h, 8, 0.75), star10: (w, h) => around(w, h, 10, 0.85), star12: (w, h) => around(w, h, 12, 0.75),
  homePlate: (w, h, adj) => { const x = w - Math.min(w, small(w, h) * adj("adj", 0.5)); return poly([0, 0], [x, 0], [w, h / 2], [x, h], [0, h]); },
  chevron: (w, h, adj) => { const x = Math.min(w, small(w, h) * adj("adj", 0.5)); return poly([0, 0], [w - x, 0], [w, h / 2], [w - x, h], [0, h], [x, h / 2]); },
  rightArrow: arrow, stripedRightArrow: arrow, notchedRightArrow: arrow, leftArrow: mirrored(arrow), upArrow: turned(arrow), downArrow: upended(turned(arrow)), leftRightArrow: doubleArrow, upDownArrow: turned(doubleArrow),
  plus: (w, h, adj) => { const x = small(w, h) * adj("adj", 0.25); return poly([x, 0], [w - x, 0], [w - x, x], [w, x], [w, h - x], [w - x, h - x], [w - x, h], [x, h], [x, h - x], [0, h - x], [0, x], [x, x]); },
  mathPlus: (w, h) => { const [x, t] = [small(w, h) * 0.13, small(w, h) * 0.118]; return poly([w / 2 - t, x], [w / 2 + t, x], [w / 2 + t, h / 2 - t], [w - x, h / 2 - t], [w - x, h / 2 + t], [w / 2 + t, h / 2 + t], [w / 2 + t, h - x], [w / 2 - t, h - x], [w / 2 - t, h / 2 + t], [x, h / 2 + t], [x, h / 2 - t], [w / 2 - t, h / 2 - t]); },
  mathMinus: (w, h) => box(w * 0.13, h * 0.38, w * 0.74, h * 0.24),
  donut: (w, h, adj) => ring(w, h, adj("adj", 0.25)), noSmoking: (w, h, adj) => ring(w, h, adj("adj", 0.1875)), can, flowChartMagneticDisk: can,
  cube: (w, h, adj) => { const x = small(w, h) * adj("adj", 0.25); return `${poly([0, x], [x, 0], [w, 0], [w, h - x], [w - x, h], [0, h])}M0 ${round(x)}L${round(w - x)} ${round(x)}L${round(w)} 0M${round(w - x)} ${round(x)}L${round(w - x)} ${round(h)}`; },
  frame: (w, h, adj) => { const x = small(w, h) * adj("adj1", 0.125); return box(0, 0, w, h) + box(x, x, w - 2 * x, h - 2 * x); },
  heart: (w, h) => `M${w / 2} ${h / 4}C${w * 0.71} ${-h / 3} ${w * 1.52} ${h / 4} ${w / 2} ${h}C${-w * 0.52} ${h / 4} ${w * 0.29} ${-h / 3} ${w / 2} ${h / 4}Z`,
  cloud, cloudCallout: (w, h, adj) => cloud(w, h, adj) + tip(w, h, adj),
  lightningBolt: (w, h) => poly([w * 0.392, 0], [w * 0.59, h * 0.28], [w * 0.51, h * 0.31], [w * 0.768, h * 0.554], [w * 0.682, h * 0.594], [w, h], [w * 0.463, h * 0.692], [w * 0.565, h * 0.636], [w * 0.232, h * 0.449], [w * 0.351, h * 0.379], [0, h * 0.18]),
  flowChartDocument: (w, h) => `M0 0h${w}v${round(h * 0.8)}C${round(w * 0.5)} ${round(h * 0.8)} ${round(w * 0.5)} ${round(h * 1.15)} 0 ${round(h * 0.93)}Z`,
  flowChartPredefinedProcess: (w, h) => `${box(0, 0, w, h)}M${round(w / 8)} 0v${h}M${round((w * 7) / 8)} 0v${h}`,
  wedgeRectCallout: (w, h, adj) => box(0, 0, w, h) + tip(w, h, adj), wedgeRoundRectCallout: (w, h, adj) => box(0, 0, w, h, small(w, h) / 6) + tip(w, h, adj), wedgeEllipseCallout: (w, h, adj) => oval(w / 2, h / 2, w / 2, h / 2) + tip(w, h, adj),
  blockArc: (w, h) => { const t = small(w, h) * 0.25; return `M0 ${h / 2}A${w / 2} ${h / 2} 0 0 1 ${w} ${h / 2}H${round(w - t)}A${round(w / 2 - t)} ${round(Math.max(1, h / 2 - t))} 0 0 0 ${round(t)} ${h / 2}Z`; },
  moon: (w, h) => `M${w} 0A${w} ${h / 2} 0 0 0 ${w} ${h}A${w * 0.6} ${h * 0.6} 0 0 1 ${w} 0Z`, teardrop: (w, h) => `M${w / 2} 0H${w}V${h / 2}A${w / 2} ${h / 2} 0 1 1 ${w / 2} 0Z`,
};
const OPEN: Record<string, Draw> = {
  line, straightConnector1: line, lineInv: (w, h) => `M0 ${round(h)}L${round(w)} 0`, leftBrace: brace, rightBrace: mirrored(brace),
  leftBracket: (w, h) => `M${w} 0Q0 0 0 ${round(Math.min(w, h) * 0.2)}L0 ${round(h - Math.min(w, h) * 0.2)}Q0 ${h} ${w} ${h}`, rightBracket: (w, h) => `M0 0Q${w} 0 ${w} ${round(Math.min(w, h) * 0.2)}L${w} ${round(h - Math.min(w, h) * 0.2)}Q${w} ${h} 0 ${h}`,
  arc: (w, h) => `M${w / 2} 0A${w / 2} ${h / 2} 0 0 1 ${w} ${h / 2}`,
};

/** The outline of a shape of this size. Names that are not known are drawn as a rectangle. */
export function outlineOf(form: Form, w: number, h: number): Outline {
  const adj = (name: string, usual: number) => form.adjust[name] ?? usual;
  const open = Object.hasOwn(OPEN, form.name) ? OPEN[form.name] : undefined;
  if (open) return { d: open(w, h, adj), isFilled: false };
  const draw = Object.hasOwn(DRAWN, form.name) ? DRAWN[form.name] : undefined;
  return { d: draw ? draw(w, h, adj) : box(0, 0, w, h), isFilled: true };
}

/** A plain line, though the file calls it a shape. */
export const isLine = (form: Form): boolean => form.own === null && /^(?:line|straightConnector1)$/.test(form.name);
