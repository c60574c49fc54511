// Charts of office documents (DrawingML): what is in them, from the values that the file keeps beside its formulas. Pure.
import { colourOf, type Theme } from "../slides/colour";
import { child } from "../slides/text";
import { all } from "../zip";

export type Kind = "column" | "bar" | "line" | "area" | "pie" | "doughnut" | "scatter" | "bubble";
export type Grouping = "beside" | "stacked" | "whole";
export type Series = {
  name: string;
  colour: string;
  values: readonly (number | null)[];
  /** Of scatters and bubbles; else the places are the categories. */
  xs: readonly (number | null)[] | null;
  sizes: readonly (number | null)[] | null;
  /** Colours of single points. */
  points: ReadonlyMap<number, string>;
  hasLine: boolean;
  hasMarkers: boolean;
  labels: Labels;
  format: string;
};
export type Labels = { value: boolean; percent: boolean; category: boolean };
export type Plot = { kind: Kind; grouping: Grouping; series: readonly Series[]; /** Part of a category that is left free, and of a doughnut. */ gap: number; hole: number; axes: readonly string[] };
export type Axis = { id: string; isValue: boolean; isHidden: boolean; isReversed: boolean; isAcross: boolean; min: number | null; max: number | null; hasGrid: boolean; format: string; title: string };
export type Chart = { title: string; plots: readonly Plot[]; categories: readonly string[]; axes: readonly Axis[]; legend: "none" | "right" | "left" | "top" | "bottom"; size: number };

/** More than anybody can tell apart. What a file claims to have counts for nothing: only what is there is read. */
const MOST_SERIES = 40;
const MOST_POINTS = 1_000;
const MOST_MARKS = 4_000;
/** Beyond these a scale has no meaning, and sums have no end. */
const LARGEST = 1e100;
const MOST_LETTERS = 200;

const KINDS: Record<string, Kind> = {
  barChart: "column", bar3DChart: "column", lineChart: "line", line3DChart: "line", areaChart: "area", area3DChart: "area",
  pieChart: "pie", pie3DChart: "pie", ofPieChart: "pie", doughnutChart: "doughnut", scatterChart: "scatter", bubbleChart: "bubble",
};

/** `null` when it has nothing that can be drawn here. */
export function readChart(document: Document, theme: Theme): Chart | null {
  const chart = all(document, "chart")[0];
  const area = chart && child(chart, "plotArea");
  if (!chart || !area) return null;
  const nodes = [...area.children].filter((node) => Object.hasOwn(KINDS, node.localName));
  const plots = nodes.map((node) => plotOf(node, theme)).filter((plot) => plot.series.length > 0);
  if (plots.length === 0) return null;
  const names = nodes.flatMap((node) => all(node, "cat")).map(textsOf).sort((a, b) => b.length - a.length)[0] ?? [];
  const longest = Math.max(...plots.flatMap((plot) => plot.series.map((one) => one.values.length)));
  const position = child(child(chart, "legend") ?? chart, "legendPos")?.getAttribute("val") ?? "r";
  return {
    title: titleOf(chart, plots),
    plots,
    categories: Array.from({ length: longest }, (_, at) => names[at] ?? String(at + 1)),
    axes: [...area.children].filter((node) => /Ax$/.test(node.localName)).slice(0, 4).map(axisOf),
    legend: child(chart, "legend") ? (({ l: "left", t: "top", b: "bottom" } as const)[position] ?? "right") : "none",
    size: sizeOf(document),
  };
}

function plotOf(node: Element, theme: Theme): Plot {
  const isBar = said(node, "barDir") === "bar";
  const kind = isBar ? "bar" : KINDS[node.localName]!;
  const found = [...node.children].filter((one) => one.localName === "ser").slice(0, kind === "pie" ? 1 : MOST_SERIES);
  const most = Math.min(MOST_POINTS, Math.floor(MOST_MARKS / Math.max(1, found.length)));
  const grouping = ({ stacked: "stacked", percentStacked: "whole" } as const)[said(node, "grouping") ?? ""] ?? "beside";
  return {
    kind,
    grouping,
    series: found.map((one) => seriesOf(one, node, kind, theme, most)).filter((one) => one.values.length > 0),
    gap: bounded(Number(said(node, "gapWidth") ?? 150) / 100, 0, 5),
    hole: bounded(Number(said(node, "holeSize") ?? 50) / 100, 0.1, 0.9),
    axes: [...node.children].filter((one) => one.localName === "axId").map((one) => one.getAttribute("val") ?? ""),
  };
}

function seriesOf(node: Element, plot: Element, kind: Kind, theme: Theme, most: number): Series {
  const index = Number(said(node, "idx") ?? 0) || 0;
  const look = child(node, "spPr");
  const edge = look && child(look, "ln");
  const isStroke = kind === "line" || kind === "scatter";
  const own = (isStroke ? edge && colourOf(child(edge, "solidFill"), theme) : null) ?? (look ? colourOf(child(look, "solidFill"), theme) : null);
  const values = child(node, "val") ?? child(node, "yVal");
  const xs = child(node, "xVal");
  const marker = child(node, "marker");
  const label = child(node, "dLbls") ?? child(plot, "dLbls");
  return {
    name: (child(node, "tx") ? textsOf(child(node, "tx")!)[0] : undefined) ?? `Series ${index + 1}`,
    colour: own ?? usual(index, theme),
    values: values ? numbersOf(values, most) : [],
    xs: xs ? numbersOf(xs, most) : null,
    sizes: child(node, "bubbleSize") ? numbersOf(child(node, "bubbleSize")!, most) : null,
    points: kind === "line" || kind === "area" ? new Map() : pointColours(node, theme, kind === "pie" || kind === "doughnut" ? most : 0),
    hasLine: !(edge && child(edge, "noFill")),
    // Those of lines are switched on for all, and off for one.
    hasMarkers: (kind === "scatter" || isSaid(plot, "marker")) && (marker === undefined || said(marker, "symbol") !== "none"),
    labels: { value: isSaid(label, "showVal"), percent: isSaid(label, "showPercent"), category: isSaid(label, "showCatName") },
    format: (label && child(label, "numFmt")?.getAttribute("formatCode")) || (values && all(values, "formatCode")[0]?.textContent) || "General",
  };
}

/** Points that have colours of their own; in a pie every point has one. */
function pointColours(node: Element, theme: Theme, every: number): ReadonlyMap<number, string> {
  const colours = new Map<number, string>();
  const n = Math.min(every, all(node, "pt").length);
  for (let at = 0; at < n; at += 1) colours.set(at, usual(at, theme));
  for (const point of [...node.children].filter((one) => one.localName === "dPt").slice(0, MOST_POINTS)) {
    const colour = child(point, "spPr") && colourOf(child(child(point, "spPr")!, "solidFill"), theme);
    if (colour) colours.set(Number(said(point, "idx") ?? -1), colour);
  }
  return colours;
}

const OFFICE = ["#4472c4", "#ed7d31", "#a5a5a5", "#ffc000", "#5b9bd5", "#70ad47"];

/** The colours of the theme, one after the other. */
const usual = (index: number, theme: Theme): string => {
  const n = Math.abs(Math.trunc(index)) % 6;
  return theme.get(`accent${n + 1}`) ?? OFFICE[n]!;
};

function axisOf(node: Element): Axis {
  const scale = child(node, "scaling");
  const limit = (name: string) => {
    const value = number(scale ? said(scale, name) : undefined);
    return value;
  };
  return {
    id: said(node, "axId") ?? "",
    isValue: node.localName === "valAx",
    isHidden: isSaid(node, "delete"),
    isReversed: scale !== undefined && said(scale, "orientation") === "maxMin",
    isAcross: ["b", "t"].includes(said(node, "axPos") ?? ""),
    min: limit("min"),
    max: limit("max"),
    hasGrid: child(node, "majorGridlines") !== undefined,
    format: child(node, "numFmt")?.getAttribute("formatCode") ?? "General",
    title: child(node, "title") ? wordsOf(child(node, "title")!) : "",
  };
}

/** What it is called. Without a title of its own, one with a single series is called as that. */
function titleOf(chart: Element, plots: readonly Plot[]): string {
  const title = child(chart, "title");
  if (title) return wordsOf(title) || (plots[0]?.series[0]?.name ?? "");
  const isAuto = said(chart, "autoTitleDeleted") === "0" && plots.length === 1 && plots[0]!.series.length === 1;
  return isAuto ? plots[0]!.series[0]!.name : "";
}

/** The size of its letters in points. */
function sizeOf(document: Document): number {
  const look = child(document.documentElement, "txPr");
  const size = look && all(look, "defRPr")[0]?.getAttribute("sz");
  return bounded(Number(size ?? 1_400) / 100 || 14, 6, 24);
}

/** Texts or numbers as texts, by their places. */
function textsOf(node: Element): string[] {
  const texts: string[] = [];
  const cached = all(node, "pt");
  for (const point of cached) {
    const at = Number(point.getAttribute("idx") ?? texts.length);
    if (Number.isInteger(at) && at >= 0 && at < MOST_POINTS && texts[at] === undefined) texts[at] = cut(child(point, "v")?.textContent ?? "");
  }
  if (cached.length === 0 && child(node, "v")) return [cut(child(node, "v")!.textContent ?? "")];
  return Array.from(texts, (text) => text ?? "");
}

function numbersOf(node: Element, most: number): (number | null)[] {
  const values: (number | null)[] = [];
  for (const point of all(node, "pt")) {
    const at = Number(point.getAttribute("idx") ?? values.length);
    if (Number.isInteger(at) && at >= 0 && at < most) values[at] = number(child(point, "v")?.textContent);
  }
  return Array.from(values, (value) => value ?? null);
}

function number(text: string | null | undefined): number | null {
  const value = text === null || text === undefined || text.trim() === "" ? Number.NaN : Number(text);
  return Number.isFinite(value) && Math.abs(value) < LARGEST ? value : null;
}

const said = (node: Element, name: string): string | undefined => child(node, name)?.getAttribute("val") ?? undefined;
/** A flag that is there without a value is set. */
const isSaid = (node: Element | undefined, name: string): boolean => {
  const flag = node && child(node, name);
  return flag !== undefined && !["0", "false"].includes(flag.getAttribute("val") ?? "1");
};
const wordsOf = (node: Element): string => cut(all(node, "t").map((text) => text.textContent ?? "").join("") || (textsOf(node)[0] ?? ""));
const cut = (text: string): string => (text.length > MOST_LETTERS ? `${text.slice(0, MOST_LETTERS)}…` : text);
const bounded = (value: number, least: number, most: number): number => (Number.isFinite(value) ? Math.max(least, Math.min(most, value)) : least);
