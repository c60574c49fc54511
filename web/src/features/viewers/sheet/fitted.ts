// Sizes that a file leaves to the program that opens it.
import { HEIGHT, WIDTH, type Look, type Sheet } from "./model";
import { shownOf } from "./shown";

/** Rows that are looked at for the widths of columns. */
const LOOKED_AT = 500;
/** Average width of a character, as a part of the height of its font. */
const CHARACTER = 0.52;
const LINE = 1.28;

/** Gives columns without a width room for their numbers, and rows without a height room for their fonts and wrapped lines. */
export function fitted(sheet: Sheet, looks: readonly Look[], is1904: boolean) {
  const widths = new Map(sheet.widths);
  for (const cells of [...sheet.rows.values()].slice(0, LOOKED_AT)) {
    for (const [column, cell] of cells) {
      const look = looks[cell.style];
      if (sheet.widths.has(column) || typeof cell.value !== "number" || !look) continue;
      const needed = Math.min(240, shownOf(cell, look, is1904).text.length * (look.css.fontWeight ? 8 : 7.5) + 10);
      if (needed > (widths.get(column) ?? WIDTH)) widths.set(column, needed);
    }
  }
  const heights = new Map(sheet.heights);
  const merged = new Set(sheet.merges.filter((one) => one.bottom > one.top).map((one) => `${one.top},${one.left}`));
  for (const [row, cells] of sheet.rows) {
    if (sheet.heights.has(row)) continue;
    let height = HEIGHT;
    for (const [column, cell] of cells) {
      const look = looks[cell.style];
      if (!look || cell.value === null || merged.has(`${row},${column}`)) continue;
      const size = parseFloat(String(look.css.fontSize ?? "")) || 14.67;
      const room = Math.max(20, (widths.get(column) ?? WIDTH) - 6);
      const lines = look.wraps ? String(cell.value).split("\n").reduce((sum, line) => sum + Math.max(1, Math.ceil((line.length * size * CHARACTER) / room)), 0) : 1;
      height = Math.max(height, Math.min(546, lines * size * LINE + 1));
    }
    if (height > HEIGHT) heights.set(row, Math.round(height));
  }
  Object.assign(sheet, { widths, heights });
}
