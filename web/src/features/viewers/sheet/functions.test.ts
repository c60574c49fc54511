// Formulas as agents write them, which a spreadsheet has never opened.
import { expect, test } from "vitest";
import { compute } from "./compute";
import { matcher } from "./criteria";
import type { Cell, Sheet, Value } from "./model";
import { withoutNames } from "./names";
import { withoutTables } from "./tables";

const ROWS: Value[][] = [["North", 10, 2, "#N/A"], ["South", 20, 3, 1], ["North", 30, 4, null], ["West", 40, 5, "x"]];

/** Values of formulas beside the rows above, which are A1:D4 of the sheet `Data`. */
async function values(formulas: readonly string[], names: Record<string, string> = {}): Promise<Value[]> {
  const cell = (value: Value, formula: string | null = null): Cell => ({ value, formula, computed: "no", style: 0 });
  const made = formulas.map((formula) => cell(null, formula));
  const rows = new Map([...ROWS.map((row, at) => [at, new Map(row.map((value, column) => [column, cell(value)]))] as const), ...made.map((one, at) => [at + 10, new Map([[0, one]])] as const)]);
  const sheet: Sheet = { name: "Data", isHidden: false, rows, nRows: 10 + made.length, nColumns: 4, widths: new Map(), heights: new Map(), merges: [], frozen: { rows: 0, columns: 0 }, hasGrid: true, charts: [] };
  await compute([sheet], new Map(Object.entries(names)));
  return made.map((one) => (one.computed === "failed" ? "not calculated" : one.value));
}

test("sums, counts and averages by criteria", async () => {
  expect(await values(['SUMIFS(B1:B4,A1:A4,"North")', 'SUMIFS(B1:B4,A1:A4,"n*",C1:C4,">2")', 'COUNTIFS(A1:A4,"<>North",B1:B4,">=40")', 'AVERAGEIFS(B1:B4,A1:A4,"North")', 'MAXIFS(B1:B4,A1:A4,"South")', "COUNTA(D1:D4)", "COUNTBLANK(D1:D4)"])).toEqual([40, 30, 1, 20, 20, 3, 1]);
});

test("lookups find what they are asked for, and say when it is missing", async () => {
  expect(await values(['MATCH("West",A1:A4,0)', 'INDEX(B1:B4,MATCH("South",A1:A4,0))', 'XLOOKUP("West",A1:A4,C1:C4)', 'XLOOKUP("East",A1:A4,C1:C4,"none")', "LOOKUP(25,B1:B4,C1:C4)", 'MATCH("East",A1:A4,0)'])).toEqual([4, 20, 5, "none", 3, "#N/A"]);
});

test("index reads the sheet of its range, rows, columns and single rows", async () => {
  const cell = (value: Value, formula: string | null = null): Cell => ({ value, formula, computed: "no", style: 0 });
  const sheet = (name: string, rows: Cell[][]): Sheet => ({ name, isHidden: false, rows: new Map(rows.map((row, at) => [at, new Map(row.map((one, column) => [column, one]))])), nRows: rows.length, nColumns: 3, widths: new Map(), heights: new Map(), merges: [], frozen: { rows: 0, columns: 0 }, hasGrid: true, charts: [] });
  const made = ["INDEX(Other!B1:B2,2)", "INDEX(Other!A1:C2,2,3)", "INDEX(Other!A1:C1,3)", "SUM(INDEX(Other!A1:C2,0,2))", "SUM(INDEX(Other!A1:C2,2,0))", "INDEX(Other!A1:C2,3,1)"].map((formula) => cell(null, formula));
  const other = sheet("Other", [[1, 2, 3].map((value) => cell(value)), [4, 5, 6].map((value) => cell(value))]);
  await compute([sheet("Own", made.map((one) => [one])), other], new Map());
  expect(made.map((one) => one.value)).toEqual([5, 6, 3, 7, 15, "#REF!"]);
});

test("statistics, money and texts", async () => {
  const [max, min, median, spread, second, rank, quartile, payment, joined, upper, choice, rounded, total] = await values(["MAX(B1:B4)", "MIN(B1:B4)", "MEDIAN(B1:B4)", "STDEV(B1:B4)", "LARGE(B1:B4,2)", "RANK(30,B1:B4)", "QUARTILE(B1:B4,1)", "PMT(5%/12,60,-10000)", 'TEXTJOIN(", ",TRUE,A1:A3)', "UPPER(A1)", 'CHOOSE(2,"a","b")', "ROUND(1.005,2)", "SUBTOTAL(109,B1:B4)"]);
  expect([max, min, median, second, rank, quartile, joined, upper, choice, rounded, total]).toEqual([40, 10, 25, 30, 2, 17.5, "North, South, North", "NORTH", "b", 1.01, 100]);
  expect([spread, payment].map((one) => Number(one).toFixed(2))).toEqual(["12.91", "188.71"]);
});

test("operators go through ranges cell by cell", async () => {
  expect(await values(['SUMPRODUCT((A1:A4="North")*B1:B4)', 'SUMPRODUCT(--(A1:A4="North"),C1:C4)', "SUM(B1:B4*C1:C4)"])).toEqual([40, 6, 400]);
});

test("errors of cells spread to what is calculated from them", async () => {
  expect(await values(["D1+1", "MAX(D1:D2)", 'IFERROR(D1,"none")'])).toEqual(["#N/A", "#N/A", "none"]);
});

test("formula over one that could not be calculated is not calculated either", async () => {
  expect(await values(["NOSUCH(1)", "A11+1", "SUM(A11:A12)", "B1+1"])).toEqual(["not calculated", "not calculated", "not calculated", 11]);
});

test("names of three letters are names, not columns", async () => {
  expect(await values(["SUM(Net)*Vat", "Net", "A99"], { Net: "Data!$B$1:$B$4", VAT: "0.25" }).then((all) => all[0])).toBe(25);
  expect(withoutNames('IF(tax>0,"tax",Tax)+taxes+TAX(1)', new Map([["Tax", "Rates!$B$1"]]))).toBe('IF(Rates!$B$1>0,"tax",Rates!$B$1)+taxes+TAX(1)');
});

test("columns of tables become ranges, without head and totals", () => {
  const tables = new Map([["boats", { sheet: "My sheet", area: { top: 1, left: 1, bottom: 5, right: 3 }, columns: ["Boat", "Seats"], hasHead: true, hasTotals: true }]]);
  expect(withoutTables("SUBTOTAL(109,Boats[Seats])", 5, tables)).toBe("SUBTOTAL(109,'My sheet'!$C$3:$C$5)");
  expect(withoutTables("Boats[@Seats]*2+Boats[[#This Row],[Boat]]", 2, tables)).toBe("'My sheet'!$C$3*2+'My sheet'!$B$3");
  expect(withoutTables("Other[Seats]", 2, tables)).toBe("Other[Seats]");
});

test("criteria know operators, wildcards and escapes", () => {
  const all = ["", "a", "A*", "abc", 5, -1, null, true] as const;
  const found = (criterion: string | number | null) => all.filter((one) => matcher(criterion)(one));
  expect([found("a*"), found("a~*"), found(">0"), found("<>5"), found("5"), found(""), found("=")]).toEqual([["a", "A*", "abc"], ["A*"], [5], ["", "a", "A*", "abc", -1, null, true], [5], ["", null], [null]]);
});
