// Values of formulas that a file has without them, as programs write files that never opened them in a spreadsheet.
import { spreads } from "./arrays";
import { functions } from "./functions";
import type { Cell, Sheet, Value } from "./model";
import { withoutNames } from "./names";
import { withoutTables, type Table } from "./tables";

/** Beyond these the rest stays without values: a page must stay responsive. */
const MAX_FORMULAS = 20_000;
const MAX_MS = 4_000;
/** Cells of a range beyond this are left out. */
const MAX_RANGE = 200_000;

type Position = { sheet: string; row: number; col: number };
type Ref = { sheet?: string; row: number; col: number } | { sheet?: string; from: { row: number; col: number }; to: { row: number; col: number } };
type Open = { sheet: Sheet; row: number; column: number; cell: Cell; /** With cells in place of tables and names. */ formula: string };

/** Fills in missing values. Positions of the formula library count from 1. */
export async function compute(sheets: readonly Sheet[], names: ReadonlyMap<string, string>, tables: ReadonlyMap<string, Table> = new Map()): Promise<{ nComputed: number; nFailed: number }> {
  const open = openCells(sheets, (formula, row) => withoutNames(withoutTables(formula, row, tables), names));
  if (open.size === 0) return { nComputed: 0, nFailed: 0 };
  const { default: FormulaParser } = await import("fast-formula-parser");
  const byName = new Map(sheets.map((sheet) => [sheet.name.toLowerCase(), sheet]));
  const find = (name: string | undefined) => byName.get((name ?? "").toLowerCase());
  // Errors of cells spread to what is calculated from them.
  const valueAt = (name: string | undefined, row: number, col: number): unknown => {
    const value = find(name)?.rows.get(row - 1)?.get(col - 1)?.value ?? null;
    return typeof value === "string" && ERROR.test(value) ? new FormulaParser.FormulaError(value) : value;
  };
  const variable = (name: string, sheet: string) => namedRef(names.get(name), sheet);
  const parser = new FormulaParser({
    onCell: (ref: { sheet: string; row: number; col: number }) => valueAt(ref.sheet, ref.row, ref.col),
    onRange: (ref: { sheet: string; from: { row: number; col: number }; to: { row: number; col: number } }) => rangeOf(find(ref.sheet), ref, valueAt),
    onVariable: variable,
    functions: functions(FormulaParser.FormulaError),
  });
  spreads(parser);
  const dependencies = new FormulaParser.DepParser({ onVariable: variable });
  const deadline = performance.now() + MAX_MS;
  const byRow = rowsOf(open);
  let [nComputed, nFailed] = [0, 0];
  const needed = new Map<Open, readonly Open[]>();
  const needsOf = (one: Open): Open[] => {
    const found = performance.now() < deadline ? needs(dependencies, one, open, byRow, find) : [];
    needed.set(one, [...found]);
    return found;
  };
  for (const next of inOrder(open, needsOf)) {
    // What needs a cell that could not be calculated cannot be either: without it, its value would be wrong.
    const isBlocked = needed.get(next)?.some((other) => other.cell.computed === "failed") ?? false;
    const result = !isBlocked && nComputed + nFailed < MAX_FORMULAS && performance.now() < deadline ? evaluated(parser, next) : undefined;
    next.cell.computed = result === undefined ? "failed" : "yes";
    if (result === undefined) nFailed += 1;
    else nComputed += 1;
    next.cell.value = result ?? null;
  }
  return { nComputed, nFailed };
}

/** Errors that are values. An unknown name is none: a spreadsheet may know it. */
const ERROR = /^#(?:DIV\/0!|N\/A|NUM!|VALUE!|REF!|NULL!)$/;

const keyOf = (sheet: Sheet, row: number, column: number): string => `${row},${column},${sheet.name.toLowerCase()}`;

function openCells(sheets: readonly Sheet[], plain: (formula: string, row: number) => string): Map<string, Open> {
  const open = new Map<string, Open>();
  for (const sheet of sheets) for (const [row, cells] of sheet.rows) for (const [column, cell] of cells) {
    if (cell.formula !== null && cell.value === null) open.set(keyOf(sheet, row, column), { sheet, row, column, cell, formula: plain(cell.formula, row) });
  }
  return open;
}

/** Each cell after those it needs; a circle is broken where it closes. Not recursive: chains of sums are long. */
function* inOrder(open: ReadonlyMap<string, Open>, needs: (one: Open) => Open[]): Generator<Open> {
  const seen = new Set<Open>();
  for (const start of open.values()) {
    const stack: { one: Open; rest: Open[] }[] = [];
    const enter = (one: Open) => {
      if (seen.has(one)) return;
      seen.add(one);
      stack.push({ one, rest: needs(one) });
    };
    enter(start);
    while (stack.length > 0) {
      const top = stack.at(-1)!;
      const next = top.rest.pop();
      if (next) enter(next);
      else {
        stack.pop();
        yield top.one;
      }
    }
  }
}

function needs(parser: { parse: (formula: string, at: Position) => unknown[] }, one: Open, open: ReadonlyMap<string, Open>, byRow: ByRow, find: (name: string | undefined) => Sheet | undefined): Open[] {
  let refs: Ref[];
  try {
    refs = parser.parse(one.formula, positionOf(one)) as Ref[];
  } catch {
    return []; // Its evaluation fails too, and says so.
  }
  return refs.flatMap((ref): Open[] => {
    const sheet = find(ref.sheet ?? one.sheet.name);
    if (!sheet) return [];
    if (!("from" in ref)) {
      const cell = open.get(keyOf(sheet, ref.row - 1, ref.col - 1));
      return cell ? [cell] : [];
    }
    const found: Open[] = [];
    for (let row = ref.from.row - 1; row < Math.min(ref.to.row, sheet.nRows); row += 1) {
      for (const other of byRow.get(sheet)?.get(row) ?? []) if (other.column >= ref.from.col - 1 && other.column < ref.to.col) found.push(other);
    }
    return found;
  });
}

type ByRow = ReadonlyMap<Sheet, ReadonlyMap<number, readonly Open[]>>;

function rowsOf(open: ReadonlyMap<string, Open>): ByRow {
  const sheets = new Map<Sheet, Map<number, Open[]>>();
  for (const one of open.values()) {
    const rows = sheets.get(one.sheet) ?? new Map<number, Open[]>();
    sheets.set(one.sheet, rows);
    rows.set(one.row, [...(rows.get(one.row) ?? []), one]);
  }
  return sheets;
}

const positionOf = ({ sheet, row, column }: Open): Position => ({ sheet: sheet.name, row: row + 1, col: column + 1 });

/** `undefined` when the formula is of a kind that is not known here. */
function evaluated(parser: { parse: (formula: string, at: Position, isArray?: boolean) => unknown }, one: Open): Value | undefined {
  try {
    const result = parser.parse(one.formula, positionOf(one));
    const value = Array.isArray(result) ? (result as unknown[]).flat()[0] : result;
    if (typeof value === "number" || typeof value === "string" || typeof value === "boolean") return value;
    if (value === null || value === undefined) return 0;
    const error = String((value as { _error?: unknown })._error ?? "");
    // Errors of the sheet's own are values, like a division by zero.
    return ERROR.test(error) ? error : undefined;
  } catch (error) {
    const name = String((error as { _error?: unknown })._error ?? "");
    return /^#(?:DIV\/0!|N\/A|NUM!)$/.test(name) ? name : undefined;
  }
}

function rangeOf(sheet: Sheet | undefined, { from, to, sheet: name }: { sheet: string; from: { row: number; col: number }; to: { row: number; col: number } }, valueAt: (name: string, row: number, col: number) => unknown): unknown[][] {
  // Whole columns and rows end with the sheet.
  const [bottom, right] = [Math.min(to.row, Math.max(from.row, sheet?.nRows ?? 0)), Math.min(to.col, Math.max(from.col, sheet?.nColumns ?? 0))];
  const rows: unknown[][] = [];
  let left = MAX_RANGE;
  for (let row = from.row; row <= bottom && left > 0; row += 1) {
    const cells: unknown[] = [];
    for (let col = from.col; col <= right; col += 1) cells.push(valueAt(name, row, col));
    left -= cells.length;
    rows.push(cells);
  }
  return rows;
}

/** What a name of the workbook stands for: a cell or a range. */
export function namedRef(text: string | undefined, sheet: string): Ref | null {
  const found = /^(?:'((?:[^']|'')+)'|([^'!]+))!(\$?[A-Z]{1,3}\$?\d+)(?::(\$?[A-Z]{1,3}\$?\d+))?$/.exec(text ?? "");
  if (!found) return null;
  const at = (reference: string) => {
    const [, letters, row] = /^\$?([A-Z]+)\$?(\d+)$/.exec(reference)!;
    return { row: Number(row), col: [...letters!].reduce((sum, one) => sum * 26 + one.charCodeAt(0) - 64, 0) };
  };
  const name = found[1]?.replaceAll("''", "'") ?? found[2] ?? sheet;
  return found[4] ? { sheet: name, from: at(found[3]!), to: at(found[4]) } : { sheet: name, ...at(found[3]!) };
}
