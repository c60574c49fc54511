// A workbook as it is drawn.
import type { CSSProperties } from "react";
import type { Chart } from "../charts/read";

export type Value = string | number | boolean | null;
export type Cell = {
  value: Value;
  /** Without `=`. */
  formula: string | null;
  /** The value is missing in the file, and was computed here; or could not be. */
  computed: "no" | "yes" | "failed";
  style: number;
};
/** Rows and columns from 0; `to` is the last one. */
export type Area = { top: number; left: number; bottom: number; right: number };
export type Placed = { /** `null` for a chart of a kind that is not drawn here. */ chart: Chart | null; /** An image in place of a chart. */ picture: { path: string; bytes: Uint8Array<ArrayBuffer>; alt: string } | null; /** Where the upper left corner is, and how large it is, in pixels. */ x: number; y: number; w: number; h: number };
export type Look = { css: CSSProperties; /** Number format, as the file writes it. */ format: string; align: "left" | "right" | "center" | null; wraps: boolean };

export type Sheet = {
  name: string;
  isHidden: boolean;
  rows: ReadonlyMap<number, ReadonlyMap<number, Cell>>;
  nRows: number;
  nColumns: number;
  /** In pixels. */
  widths: ReadonlyMap<number, number>;
  heights: ReadonlyMap<number, number>;
  merges: readonly Area[];
  frozen: { rows: number; columns: number };
  hasGrid: boolean;
  charts: readonly Placed[];
};
export type Book = { sheets: Sheet[]; looks: readonly Look[]; /** Formulas whose values the file lacks. */ nComputed: number; nFailed: number; is1904: boolean };

export const WIDTH = 64;
export const HEIGHT = 20;

/** 0 → A, 26 → AA. */
export function letter(column: number): string {
  const rest = Math.floor(column / 26);
  return (rest > 0 ? letter(rest - 1) : "") + String.fromCharCode(65 + (column % 26));
}

/** `B3` → row 2, column 1. */
export function placeOf(reference: string): { row: number; column: number } | null {
  const found = /^\$?([A-Z]{1,3})\$?(\d{1,7})$/.exec(reference);
  if (!found) return null;
  return { row: Number(found[2]) - 1, column: [...found[1]!].reduce((sum, one) => sum * 26 + one.charCodeAt(0) - 64, 0) - 1 };
}

/** `B3:C9`, or a single cell. */
export function areaOf(reference: string): Area | null {
  const [from, to = from] = reference.split(":").map(placeOf);
  return from && to ? { top: from.row, left: from.column, bottom: to.row, right: to.column } : null;
}
