import { readFileSync } from "node:fs";
import { join } from "node:path";
import { renderToStaticMarkup } from "react-dom/server";
import { expect, test } from "vitest";
import "../fixtures/xml";
import { Zip } from "../zip";
import { ChartDrawing } from "./ChartDrawing";
import { heaps } from "./layout";
import { readChart, type Chart, type Grouping, type Kind } from "./read";
import { formatted, scaleOf } from "./scale";

/** The charts of a real file, which python-pptx made. How slides hold them is tried in a browser. */
const charts = (async () => {
  const zip = Zip.open(new Uint8Array(readFileSync(join(import.meta.dirname, "../fixtures/charts.pptx"))));
  const names = zip.names().filter((name) => /^ppt\/charts\/chart[^/]*\.xml$/.test(name));
  return Promise.all(names.map(async (name) => readChart((await zip.xml(name))!, new Map())));
})();

async function chartOf(kind: Kind, grouping: Grouping = "beside"): Promise<Chart> {
  return (await charts).find((chart) => chart?.plots.some((plot) => plot.kind === kind && plot.grouping === grouping))!;
}

const drawn = (chart: Chart) => renderToStaticMarkup(<ChartDrawing chart={chart} width={800} height={400} ink="#222222" />);
const count = (text: string, of: string) => text.split(of).length - 1;

test.each([
  ["column"], ["column", "stacked"], ["bar"], ["bar", "whole"], ["line"], ["area", "stacked"], ["pie"], ["doughnut"], ["scatter"], ["bubble"],
] as [Kind, Grouping?][])("a real %s chart (%s) is read and drawn in numbers", async (kind, grouping) => {
  const chart = await chartOf(kind, grouping);
  expect(chart.plots.length).toBe(1);
  expect(drawn(chart)).not.toMatch(/NaN|Infinity|undefined/);
});

test("one of a kind that is not drawn here is none", async () => {
  expect((await charts).filter((chart) => chart === null).length).toBe(1);
});

test("columns: every value has its bar, a missing one has none, and the labels say them", async () => {
  const chart = await chartOf("column");
  expect(chart).toMatchObject({ title: "Load by month, %", legend: "bottom", categories: ["Jan", "Feb", "Mar", "Apr", "May", "Jun"] });
  expect(chart.plots[0]!.series.map((one) => [one.name, one.values])).toEqual([["Norrvik", [62, 58, 71, 80, 93, 99]], ["Holm", [40, 44, 39, 52, 61, 70]], ["Kråkö", [20, 18, null, 31, 38, 45]]]);
  const svg = drawn(chart);
  // Seventeen bars, three squares of the legend.
  expect(count(svg, "<rect")).toBe(20);
  expect(svg).toContain(">99</text>");
  expect(svg).toContain("Column chart: Load by month, %. Norrvik, Holm, Kråkö.");
});

test("a pie has its parts, a colour of its own where one was given, and percents", async () => {
  const chart = await chartOf("pie");
  const svg = drawn(chart);
  expect(count(svg, "<path")).toBe(4);
  expect(chart.plots[0]!.series[0]!.points.get(1)).toBe("#ae2a1f");
  expect(svg).toContain(">55%</text>");
});

const NAMES = 'xmlns:c="c" xmlns:a="a"';
const read = (inside: string) => readChart(new DOMParser().parseFromString(`<c:chartSpace ${NAMES}><c:chart><c:plotArea>${inside}</c:plotArea><c:legend><c:legendPos val="r"/></c:legend></c:chart></c:chartSpace>`, "application/xml"), new Map());
const series = (...values: string[]) => `<c:ser><c:idx val="0"/><c:val><c:numRef><c:numCache><c:ptCount val="4000000000"/>${values.map((value, at) => `<c:pt idx="${at}"><c:v>${value}</c:v></c:pt>`).join("")}</c:numCache></c:numRef></c:val></c:ser>`;

test("what a file claims to have is not believed, and numbers without end are no numbers", () => {
  const chart = read(`<c:barChart><c:barDir val="col"/><c:gapWidth val="1e99"/>${series("1", "1e308", "Infinity", "NaN", "", "-5", "0x10")}<c:axId val="1"/></c:barChart><c:valAx><c:axId val="1"/><c:scaling><c:min val="1e309"/><c:max val="-3"/></c:scaling></c:valAx>`)!;
  expect(chart.plots[0]!.series[0]!.values).toEqual([1, null, null, null, null, -5, 16]);
  expect(chart.categories.length).toBe(7);
  expect(drawn(chart)).not.toMatch(/NaN|Infinity|e\+/);
});

test("places that are far away, below nought or broken are left out, and there is an end to how much is drawn", () => {
  const far = read(`<c:lineChart><c:ser><c:val><c:numCache><c:pt idx="999999999"><c:v>1</c:v></c:pt><c:pt idx="-1"><c:v>1</c:v></c:pt><c:pt idx="x"><c:v>1</c:v></c:pt><c:pt idx="1"><c:v>7</c:v></c:pt></c:numCache></c:val></c:ser></c:lineChart>`)!;
  expect(far.plots[0]!.series[0]!.values).toEqual([null, 7]);
  const many = read(`<c:barChart>${series("1", "2", "3").repeat(60)}</c:barChart>`)!;
  // Forty series of three, and the legend.
  expect(count(drawn(many), "<rect")).toBeLessThanOrEqual(40 * 3 + 40);
});

test("texts stay texts, whatever is in them", () => {
  const chart = read(`<c:pieChart><c:ser><c:tx><c:v>&lt;script&gt;x&lt;/script&gt;</c:v></c:tx><c:cat><c:strLit><c:pt idx="0"><c:v>&lt;img src=x onerror=y&gt;</c:v></c:pt></c:strLit></c:cat><c:val><c:numLit><c:pt idx="0"><c:v>1</c:v></c:pt></c:numLit></c:val></c:ser></c:pieChart>`)!;
  const svg = drawn(chart);
  expect(svg).not.toMatch(/<script|<img/);
  expect(svg).toContain("&lt;img src=x onerror=y&gt;");
});

test("a colour is a colour: nothing else goes into a drawing", () => {
  const chart = read(`<c:barChart><c:ser><c:spPr><a:solidFill><a:srgbClr val='url(http://x)'/></a:solidFill></c:spPr><c:val><c:numLit><c:pt idx="0"><c:v>1</c:v></c:pt></c:numLit></c:val></c:ser></c:barChart>`)!;
  expect(chart.plots[0]!.series[0]!.colour).toBe("#4472c4");
});

test("nothing to draw is nothing", () => {
  expect(read("<c:radarChart/>")).toBeNull();
  expect(read("<c:barChart><c:ser/></c:barChart>")).toBeNull();
});

test("scales have round numbers and an end", () => {
  const check = (values: number[], hasZero = true) => scaleOf(values, { min: null, max: null }, hasZero).ticks;
  expect(check([12, -5, 7.5])).toEqual([-5, 0, 5, 10, 15]);
  expect(check([62, 99])).toEqual([0, 20, 40, 60, 80, 100]);
  expect(check([5, 5])).toEqual([0, 1, 2, 3, 4, 5, 6]);
  expect(check([]).length).toBeGreaterThan(1);
  for (const values of [[1e99, -1e99], [1e-99], [1e16, 1e16 + 2], [0]]) {
    const ticks = check(values, false);
    expect(ticks.length).toBeLessThan(30);
    expect(ticks.every(Number.isFinite)).toBe(true);
  }
});

test("stacked values stand one upon the other, those below nought downwards", () => {
  const one = (values: number[]) => ({ values }) as never;
  expect(heaps([one([3, -1]), one([2, -4])], 2)).toEqual([[{ from: 0, to: 3 }, { from: 0, to: -1 }], [{ from: 3, to: 5 }, { from: -1, to: -5 }]]);
});

test("numbers are written as a sheet writes them", () => {
  const check = (value: number, format: string, expected: string) => expect(formatted(value, format)).toBe(expected);
  check(0.256, "0%", "26%");
  check(0.256, "0.0%", "25.6%");
  check(1234567.5, "#,##0", "1,234,568");
  check(1234.5, '"$"#,##0.00', "$1,234.50");
  check(40, '0"%"', "40%");
  check(1234567, "General", "1,234,570");
  check(0.1 + 0.2, "General", "0.3");
  check(1e20, "General", "1.00e+20");
  check(12, "[Red]0;[Blue]-0", "12");
  check(7, '"x"'.repeat(100), "7");
});
