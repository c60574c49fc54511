// Looks of tables. Programs write only the number of a built-in style, and leave its colours to whoever draws it.
import { all } from "../zip";
import { changed, type Theme } from "./colour";

export type CellLook = { fill: string | null; ink: string | null; edge: string | null; isBold: boolean };

const PLAIN: CellLook = { fill: null, ink: null, edge: null, isBold: false };

const NO_STYLE = "{2D5ABB26-0587-4C30-8999-92F81FD0307C}";
const GRID_ONLY = "{5940675A-B579-460E-94D1-54222C63F5DA}";
/** “Medium Style 2” without and with each accent; the first accent's is what PowerPoint gives a new table. */
const MEDIUM_2: Record<string, string> = {
  "{073A0DAA-6AF3-43AB-8588-CEC1D06C72B9}": "tx1",
  "{5C22544A-7EE6-4342-B048-85BDC9FD1C3A}": "accent1",
  "{21E4AEA4-8DFA-4A89-87EB-49C32662AFE0}": "accent2",
  "{F5AB1C69-6EDB-4FF4-983F-18BD219EF322}": "accent3",
  "{00A15C55-8517-42AA-B614-E9B94910E393}": "accent4",
  "{7DF18680-E054-41AD-8BC1-D1AEF772440D}": "accent5",
  "{93296810-A885-4BE3-A3E7-6D5BEEA58F35}": "accent6",
};

/** The look of a cell, by its row and column. Styles that are not known look like the usual one. */
export function tableLook(table: Element, theme: Theme, rows: number, columns: number): (row: number, column: number) => CellLook {
  const properties = all(table, "tblPr")[0];
  const id = (properties && all(properties, "tableStyleId")[0]?.textContent?.trim().toUpperCase()) ?? NO_STYLE;
  if (id === NO_STYLE) return () => PLAIN;
  if (id === GRID_ONLY) return () => ({ ...PLAIN, edge: theme.get("tx1") ?? "#000000" });
  const has = (name: string) => ["1", "true"].includes(properties?.getAttribute(name) ?? "");
  const accent = theme.get(MEDIUM_2[id] ?? "accent1") ?? "#4472c4";
  const ground = theme.get("bg1") ?? "#ffffff";
  const strong: CellLook = { fill: accent, ink: ground, edge: ground, isBold: true };
  return (row, column) => {
    const isHead = (has("firstRow") && row === 0) || (has("lastRow") && row === rows - 1) || (has("firstCol") && column === 0) || (has("lastCol") && column === columns - 1);
    if (isHead) return strong;
    const isBand = (has("bandRow") && (row - (has("firstRow") ? 1 : 0)) % 2 === 0) || (has("bandCol") && (column - (has("firstCol") ? 1 : 0)) % 2 === 0);
    return { fill: changed(accent, "tint", isBand ? 0.4 : 0.2), ink: theme.get("tx1") ?? null, edge: ground, isBold: false };
  };
}
