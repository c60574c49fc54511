// Workbooks (.xlsx): cells with values and formulas, sizes, merged cells, frozen panes and charts.
import { readTheme } from "../slides/colour";
import { all, relationId, Zip } from "../zip";
import { child } from "../slides/text";
import { readCharts } from "./charts";
import { compute } from "./compute";
import { fitted } from "./fitted";
import { areaOf, placeOf, type Area, type Book, type Cell, type Sheet } from "./model";
import { looksOf } from "./styles";
import { readTables } from "./tables";

const MAX_ROWS = 50_000;
const MAX_COLUMNS = 1_000;
const MAX_CELLS = 1_000_000;

export async function readBook(bytes: Uint8Array<ArrayBuffer>): Promise<Book> {
  const zip = Zip.open(bytes);
  const book = await zip.xml("xl/workbook.xml");
  if (!book) throw new Error("It has no workbook inside.");
  const relations = await zip.relations("xl/workbook.xml");
  const shared = all((await zip.xml("xl/sharedStrings.xml")) ?? new Document(), "si").map(textOf);
  const themePath = [...relations.values()].find((path) => path.includes("theme/"));
  const theme = readTheme(themePath ? await zip.xml(themePath) : null, null);
  const looks = looksOf(await zip.xml("xl/styles.xml"), theme);
  const sheets: Sheet[] = [];
  const parts: { sheet: Sheet; path: string; document: Document }[] = [];
  for (const entry of all(book, "sheet")) {
    const path = relations.get(relationId(entry)) ?? "";
    const document = await zip.xml(path);
    const sheet = sheetOf(document, shared, entry.getAttribute("name") ?? "Sheet", (entry.getAttribute("state") ?? "visible") !== "visible");
    sheets.push(sheet);
    if (document) parts.push({ sheet, path, document });
  }
  const names = new Map(all(book, "definedName").map((one) => [one.getAttribute("name") ?? "", one.textContent ?? ""]));
  const tables = new Map((await Promise.all(parts.map((part) => readTables(zip, part.path, part.sheet.name)))).flat());
  const { nComputed, nFailed } = await compute(sheets, names, tables);
  const is1904 = ["1", "true"].includes(all(book, "workbookPr")[0]?.getAttribute("date1904") ?? "");
  for (const sheet of sheets) fitted(sheet, looks, is1904);
  // Charts come last: those without saved values read them from the cells.
  for (const part of parts) Object.assign(part.sheet, { charts: await readCharts(zip, part.path, part.document, part.sheet, { sheets, looks, is1904 }, theme) });
  return { sheets, looks, nComputed, nFailed, is1904 };
}

function sheetOf(document: Document | null, shared: readonly string[], name: string, isHidden: boolean): Sheet {
  const empty: Sheet = { name, isHidden, rows: new Map(), nRows: 0, nColumns: 0, widths: new Map(), heights: new Map(), merges: [], frozen: { rows: 0, columns: 0 }, hasGrid: true, charts: [] };
  if (!document) return empty;
  const { rows, heights } = rowsOf(document, shared);
  const merges = all(document, "mergeCell").flatMap((one) => areaOf(one.getAttribute("ref") ?? "") ?? []).slice(0, 10_000);
  const nRows = Math.min(MAX_ROWS, Math.max(0, ...[...rows.keys()].map((row) => row + 1), ...merges.map((one) => one.bottom + 1)));
  const nColumns = Math.min(MAX_COLUMNS, Math.max(0, ...[...rows.values()].map((row) => Math.max(-1, ...row.keys()) + 1), ...merges.map((one) => one.right + 1)));
  const pane = all(document, "pane")[0];
  const isFrozen = /frozen/.test(pane?.getAttribute("state") ?? "");
  const split = (attribute: string, most: number) => (isFrozen ? Math.min(most, Math.max(0, Math.trunc(Number(pane?.getAttribute(attribute) ?? 0)) || 0)) : 0);
  return {
    ...empty, rows, heights, merges: merges.filter((one) => fits(one, nRows, nColumns)), nRows, nColumns,
    widths: widthsOf(document),
    frozen: { rows: split("ySplit", 50), columns: split("xSplit", 20) },
    hasGrid: all(document, "sheetView")[0]?.getAttribute("showGridLines") !== "0",
  };
}

const fits = (area: Area, nRows: number, nColumns: number): boolean => area.top < nRows && area.left < nColumns && area.bottom >= area.top && area.right >= area.left;

function rowsOf(document: Document, shared: readonly string[]) {
  const rows = new Map<number, ReadonlyMap<number, Cell>>();
  const heights = new Map<number, number>();
  let [last, left] = [-1, MAX_CELLS];
  for (const row of all(document, "row")) {
    const number = Number(row.getAttribute("r") ?? last + 2) - 1;
    last = number;
    if (!(number >= 0 && number < MAX_ROWS) || left <= 0) continue;
    const height = Number(row.getAttribute("ht") ?? Number.NaN);
    if (row.getAttribute("hidden") === "1") heights.set(number, 0);
    else if (Number.isFinite(height)) heights.set(number, Math.min(546, (height * 4) / 3));
    const cells = cellsOf(row, shared);
    left -= cells.size;
    if (cells.size > 0) rows.set(number, cells);
  }
  return { rows, heights };
}

function cellsOf(row: Element, shared: readonly string[]): ReadonlyMap<number, Cell> {
  const cells = new Map<number, Cell>();
  let last = -1;
  for (const cell of row.children) {
    if (cell.localName !== "c") continue;
    const column = placeOf(cell.getAttribute("r") ?? "")?.column ?? last + 1;
    last = column;
    if (column < MAX_COLUMNS) cells.set(column, cellOf(cell, shared));
  }
  return cells;
}

function cellOf(cell: Element, shared: readonly string[]): Cell {
  const raw = child(cell, "v")?.textContent ?? null;
  const formula = child(cell, "f")?.textContent || null;
  const style = Number(cell.getAttribute("s") ?? 0) || 0;
  const whole = (value: Cell["value"]): Cell => ({ value, formula, computed: "no", style });
  switch (cell.getAttribute("t")) {
    case "s":
      return whole(shared[Number(raw)] ?? "");
    case "inlineStr":
      return whole(textOf(cell));
    case "b":
      return whole(raw === null ? null : raw === "1");
    case "str":
    case "e":
    case "d":
      return whole(raw);
    default:
      return whole(raw === null || raw === "" ? null : Number.isFinite(Number(raw)) ? Number(raw) : raw);
  }
}

/** Text with its runs, without the phonetic hints of some languages. */
const textOf = (node: Element): string => all(node, "t").filter((text) => text.parentElement?.localName !== "rPh").map((text) => text.textContent ?? "").join("");

function widthsOf(document: Document): ReadonlyMap<number, number> {
  const widths = new Map<number, number>();
  for (const column of all(document, "col")) {
    const [min, max] = [Number(column.getAttribute("min")), Number(column.getAttribute("max"))];
    const width = column.getAttribute("hidden") === "1" ? 0 : Math.min(1_800, Math.trunc(Number(column.getAttribute("width") ?? 8.43) * 7 + 5));
    if (!Number.isFinite(width)) continue;
    for (let at = min; at <= Math.min(max, MAX_COLUMNS); at += 1) widths.set(at - 1, width);
  }
  return widths;
}
