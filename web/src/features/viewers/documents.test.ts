// Workbooks of three makers, with what LibreOffice shows of them: its words must be here too. See web/e2e/documents.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import "./fixtures/xml";
import type { Chart } from "./charts/read";
import { readBook } from "./sheet/read";
import { shownOf } from "./sheet/shown";

const FOLDER = join(import.meta.dirname, "../../../e2e/documents");
const bytesOf = (name: string) => new Uint8Array(readFileSync(join(FOLDER, name)));
/** Without the marks that turn the direction of a text. */
const wordsOf = (text: string): string[] => text.replace(/[\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, "").split(/[\s\f\u00a0]+/).filter(Boolean);
const textOfCharts = (charts: readonly Chart[]): string => charts.flatMap((chart) => [chart.title, ...chart.categories, ...chart.plots.flatMap((plot) => plot.series.map((one) => one.name))]).join(" ");

/**
 * Words that LibreOffice shows and we do not. The lists below name those that are right to differ: pieces of turned
 * and joined words, columns that are too narrow there, heads and feet of its pages, a function it does not know,
 * and the titles of charts that are not drawn here.
 * Numbers beside charts are scales, which every program chooses itself.
 */
function missing(name: string, shown: string, charts: readonly Chart[]): string[] {
  const ours = new Set(wordsOf(`${shown} ${textOfCharts(charts)}`));
  const theirs = wordsOf(readFileSync(join(FOLDER, `seen/${name}.txt`), "utf8"));
  return [...new Set(theirs)].filter((word) => !ours.has(word) && !(charts.length > 0 && /^[\d.,%]+$/.test(word))).sort();
}

test.each([
  ["python-budget.xlsx", { sheets: ["Orders", "Customers", "Summary"], charts: 0, notDrawn: 0, notCalculated: 0, missing: ["###", "#NAME?", "CustomerRegion"] }],
  ["python-dashboard.xlsx", { sheets: ["Data", "Board"], charts: 6, notDrawn: 1, notCalculated: 0, missing: ["Radar"] }],
  ["python-layout.xlsx", { sheets: ["Rota", "عربي"], charts: 0, notDrawn: 0, notCalculated: 0, missing: ["12345678901234", "Mo", "Th", "Tu", "We", "ay", "byits", "da", "dn", "es", "nd", "sd", "ta", "ur", "y", "االسم"] }],
  ["libreoffice-dashboard.xlsx", { sheets: ["Data", "Board"], charts: 6, notDrawn: 1, notCalculated: 0, missing: ["Radar"] }],
  ["libreoffice-sums.xlsx", { sheets: ["Sums"], charts: 0, notDrawn: 0, notCalculated: 0, missing: ["1", "Page", "Sums"] }],
  ["js-invoice.xlsx", { sheets: ["Invoice"], charts: 0, notDrawn: 0, notCalculated: 0, missing: [] }],
  ["js-plan.xlsx", { sheets: ["Plan", "Table"], charts: 0, notDrawn: 0, notCalculated: 0, missing: [] }],
])("cells of %s have the values of LibreOffice", async (name, expected) => {
  const book = await readBook(bytesOf(name));
  const sheets = book.sheets.filter((sheet) => !sheet.isHidden);
  const cells = sheets.flatMap((sheet) => [...sheet.rows.values()].flatMap((row) => [...row.values()].map((cell) => shownOf(cell, book.looks[cell.style]!, book.is1904).text)));
  const charts = sheets.flatMap((sheet) => sheet.charts.flatMap((one) => one.chart ?? []));
  const placed = sheets.flatMap((sheet) => sheet.charts);
  expect({ sheets: sheets.map((sheet) => sheet.name), charts: charts.length, notDrawn: placed.filter((one) => !one.chart && !one.picture).length, notCalculated: book.nFailed, missing: missing(name, cells.join("\n"), charts) }).toEqual(expected);
});
