// A workbook that openpyxl wrote: see the script beside it.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import "../fixtures/xml";
import { placeOf, type Book } from "./model";
import { readBook } from "./read";
import { shownOf } from "./shown";

const bytes = new Uint8Array(readFileSync(join(import.meta.dirname, "../fixtures/sales.xlsx")));
const book = readBook(bytes);

const cellAt = (all: Book, reference: string) => {
  const { row, column } = placeOf(reference)!;
  return all.sheets[0]!.rows.get(row)!.get(column)!;
};
const shown = async (...references: string[]) => {
  const all = await book;
  return references.map((reference) => shownOf(cellAt(all, reference), all.looks[cellAt(all, reference).style]!, all.is1904).text);
};

test("formulas without saved values are calculated, also over other formulas and sheets", async () => {
  expect(await shown("D3", "B7", "D7", "E7", "B9", "B10", "B13", "B14", "B15")).toEqual(["$40,000", "$353,250.50", "$92,250.50", "profit", "88312.625", "143250", "9", "120000", "120000.00 USD"]);
  expect(await shown("B11")).toEqual(["#DIV/0!"]);
  expect([(await book).nComputed, (await book).nFailed]).toEqual([20, 0]);
});

test("number formats are those of the file", async () => {
  expect(await shown("B3", "B4", "D6", "E3", "F3", "B16")).toEqual(["$120,000.00", "$95,000.50", "-$17,000", "34.0%", "15 Mar 2025", "2025-12-24"]);
  const all = await book;
  expect(shownOf(cellAt(all, "D6"), all.looks[cellAt(all, "D6").style]!, false).colour).toMatch(/red|#ff0000/i);
});

test("merged cells, frozen panes, widths and styles are read", async () => {
  const all = await book;
  const sheet = all.sheets[0]!;
  expect(sheet.merges).toEqual([{ top: 0, left: 0, bottom: 0, right: 5 }]);
  expect(sheet.frozen).toEqual({ rows: 2, columns: 1 });
  expect(sheet.widths.get(0)).toBe(131);
  expect(sheet.heights.get(0)).toBeGreaterThan(25);
  expect(all.looks[cellAt(all, "A1").style]).toMatchObject({ align: "center", css: { fontWeight: 700, color: "#ffffff", background: "#0b6a5b" } });
});

test("chart without saved values takes them from the cells", async () => {
  const [placed] = (await book).sheets[0]!.charts;
  expect(placed!.chart!.categories).toEqual(["North", "South", "East", "West"]);
  expect(placed!.chart!.plots[0]!.series.map((one) => [one.name, one.values])).toEqual([["Revenue", [120000, 95000.5, 143250, -5000]], ["Cost", [80000, 70000, 99000, 12000]]]);
});

test("column letters and places", () => {
  expect([placeOf("AA10"), placeOf("$B$3"), placeOf("x")]).toEqual([{ row: 9, column: 26 }, { row: 2, column: 1 }, null]);
});
