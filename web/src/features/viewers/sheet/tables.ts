// Tables inside of sheets, which formulas name: `Boats[Seats]`.
import { all, type Zip } from "../zip";
import { areaOf, letter, type Area } from "./model";

export type Table = { sheet: string; area: Area; columns: readonly string[]; hasHead: boolean; hasTotals: boolean };

export async function readTables(zip: Zip, path: string, sheet: string): Promise<[name: string, table: Table][]> {
  const found: [string, Table][] = [];
  for (const target of (await zip.relations(path)).values()) {
    if (!/\/tables?\//.test(target)) continue;
    // A table that cannot be read leaves its formulas without values; the cells can be shown.
    const node = (await zip.xml(target).catch(() => null))?.documentElement;
    const area = node && areaOf(node.getAttribute("ref") ?? "");
    if (!node || !area) continue;
    const columns = all(node, "tableColumn").map((one) => one.getAttribute("name") ?? "");
    found.push([(node.getAttribute("displayName") ?? "").toLowerCase(), { sheet, area, columns, hasHead: node.getAttribute("headerRowCount") !== "0", hasTotals: Number(node.getAttribute("totalsRowCount") ?? 0) > 0 }]);
  }
  return found;
}

/** A formula with ranges of cells in place of a table's columns. */
export function withoutTables(formula: string, row: number, tables: ReadonlyMap<string, Table>): string {
  if (tables.size === 0 || !formula.includes("[")) return formula;
  return formula.replace(/([\p{L}_][\p{L}\p{N}_.]*)\[(?:\[#This Row\],\s*\[([^\][]+)\]|(@)?\[?([^\][#@]+)\]?)\]/gu, (whole, name: string, inRow: string | undefined, at: string | undefined, other: string | undefined) => {
    const table = tables.get(name.toLowerCase());
    const n = table?.columns.findIndex((column) => column.toLowerCase() === (inRow ?? other ?? "").trim().toLowerCase()) ?? -1;
    if (!table || n < 0) return whole;
    const column = letter(table.area.left + n);
    const sheet = `'${table.sheet.replaceAll("'", "''")}'!`;
    if (inRow || at) return `${sheet}$${column}$${row + 1}`;
    return `${sheet}$${column}$${table.area.top + 1 + (table.hasHead ? 1 : 0)}:$${column}$${table.area.bottom + 1 - (table.hasTotals ? 1 : 0)}`;
  });
}
