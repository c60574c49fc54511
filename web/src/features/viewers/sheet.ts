// Sheets of an .xlsx file as rows of text.
import { all, Zip } from "./zip";

export type Sheet = { name: string; rows: string[][] };

const MOST_ROWS = 50_000;

export async function readSheets(bytes: Uint8Array<ArrayBuffer>): Promise<Sheet[]> {
  const zip = Zip.open(bytes);
  const book = await zip.xml("xl/workbook.xml");
  if (!book) throw new Error("It has no workbook inside.");
  const relations = await zip.relations("xl/workbook.xml");
  const shared = all((await zip.xml("xl/sharedStrings.xml")) ?? new Document(), "si").map(textOf);
  const dates = dateStyles(await zip.xml("xl/styles.xml"));
  const sheets: Sheet[] = [];
  for (const sheet of all(book, "sheet")) {
    const id = [...sheet.attributes].find((attribute) => attribute.localName === "id" && attribute.prefix)?.value ?? "";
    const document = await zip.xml(relations.get(id) ?? "");
    const rows = document ? rowsOf(document, shared, dates) : [];
    sheets.push({ name: sheet.getAttribute("name") ?? "Sheet", rows });
  }
  return sheets;
}

function rowsOf(document: Document, shared: readonly string[], dates: ReadonlySet<number>): string[][] {
  const rows: string[][] = [];
  for (const row of all(document, "row").slice(0, MOST_ROWS)) {
    const number = Number(row.getAttribute("r") ?? rows.length + 1);
    while (rows.length < Math.min(number - 1, MOST_ROWS)) rows.push([]);
    const cells: string[] = [];
    for (const cell of all(row, "c")) {
      const column = columnOf(cell.getAttribute("r") ?? "") ?? cells.length;
      if (column > 1_000) continue;
      while (cells.length < column) cells.push("");
      cells[column] = valueOf(cell, shared, dates);
    }
    rows.push(cells);
  }
  return rows;
}

function valueOf(cell: Element, shared: readonly string[], dates: ReadonlySet<number>): string {
  const raw = all(cell, "v")[0]?.textContent ?? "";
  switch (cell.getAttribute("t")) {
    case "s":
      return shared[Number(raw)] ?? "";
    case "inlineStr":
      return textOf(cell);
    case "b":
      return raw === "1" ? "TRUE" : "FALSE";
    case "str":
    case "e":
      return raw;
    default:
      return dates.has(Number(cell.getAttribute("s") ?? -1)) && raw !== "" ? dateOf(Number(raw)) : numberOf(raw);
  }
}

const numberOf = (raw: string): string => {
  const value = Number(raw);
  return raw === "" || !Number.isFinite(value) ? raw : String(Number(value.toPrecision(12)));
};

/** Days since 30 December 1899, as sheets count them. */
export function dateOf(days: number): string {
  const time = new Date(Math.round((days - 25_569) * 86_400_000));
  if (Number.isNaN(time.getTime())) return String(days);
  const text = time.toISOString();
  return days % 1 === 0 ? text.slice(0, 10) : text.slice(0, 16).replace("T", " ");
}

/** Which cell styles show a number as a date. */
function dateStyles(styles: Document | null): Set<number> {
  if (!styles) return new Set();
  const custom = new Map(all(styles, "numFmt").map((format) => [Number(format.getAttribute("numFmtId")), format.getAttribute("formatCode") ?? ""]));
  const isDate = (id: number) => (id >= 14 && id <= 22) || /[ymdh]/i.test((custom.get(id) ?? "").replace(/"[^"]*"|\[[^\]]*\]/g, ""));
  const cells = all(styles, "cellXfs")[0];
  const ids = cells ? all(cells, "xf").map((xf) => Number(xf.getAttribute("numFmtId") ?? 0)) : [];
  return new Set(ids.flatMap((id, at) => (isDate(id) ? [at] : [])));
}

const textOf = (node: Element): string => all(node, "t").map((text) => text.textContent ?? "").join("");

function columnOf(reference: string): number | null {
  const letters = /^[A-Z]+/.exec(reference)?.[0];
  if (!letters) return null;
  return [...letters].reduce((sum, letter) => sum * 26 + letter.charCodeAt(0) - 64, 0) - 1;
}
