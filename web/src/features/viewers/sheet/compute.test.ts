import { expect, test } from "vitest";
import { compute, namedRef } from "./compute";
import type { Cell, Sheet, Value } from "./model";

const cell = (text: Value): Cell => (typeof text === "string" && text.startsWith("=") ? { value: null, formula: text.slice(1), computed: "no", style: 0 } : { value: text, formula: null, computed: "no", style: 0 });
const sheet = (...rows: Value[][]): Sheet => ({ name: "S", isHidden: false, rows: new Map(rows.map((row, at) => [at, new Map(row.map((one, column) => [column, cell(one)]))])), nRows: rows.length, nColumns: Math.max(...rows.map((row) => row.length)), widths: new Map(), heights: new Map(), merges: [], frozen: { rows: 0, columns: 0 }, hasGrid: true, charts: [] });
const computed = async (...rows: Value[][]) => {
  const one = sheet(...rows);
  const counts = await compute([one], new Map([["Rate", "S!$A$1"]]));
  return { counts, values: [...one.rows.values()].map((row) => [...row.values()].map((each) => each.value)) };
};

test("cells are calculated after those they need, whatever their order", async () => {
  expect((await computed(["=A2+1", "=SUM(A1:A3)"], ["=A3*2"], [5])).values).toEqual([[11, 26], [10], [5]]);
});

test("long chain of formulas does not exhaust the stack", async () => {
  const rows = [[1], ...Array.from({ length: 3_000 }, (_, n) => [`=A${n + 1}+1`])];
  expect((await computed(...rows)).values.at(-1)).toEqual([3_001]);
});

test("circle ends, and an unknown function is reported and shown as a formula", async () => {
  const { counts, values } = await computed(["=B1", "=A1"], ["=NOSUCH(1)"]);
  expect(counts.nFailed).toBeGreaterThanOrEqual(1);
  expect(values[1]).toEqual([null]);
});

test("names of the workbook are understood", async () => {
  expect((await computed([3, "=Rate*2"])).values).toEqual([[3, 6]]);
  expect(namedRef("'My ''sheet'!$A$1:$B$2", "x")).toEqual({ sheet: "My 'sheet", from: { row: 1, col: 1 }, to: { row: 2, col: 2 } });
  expect(namedRef("1+1", "x")).toBeNull();
});
