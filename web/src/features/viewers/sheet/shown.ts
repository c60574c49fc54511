// How a value is written, by the number format of its cell. Pure.
import { format, formatColor, isDateFormat } from "numfmt";
import type { Cell, Look } from "./model";

/** Some workbooks count days from 1904 instead of 1900. */
const DAYS_TO_1904 = 1_462;

export type Shown = { text: string; align: "left" | "right" | "center"; colour: string | null };

export function shownOf(cell: Cell, look: Look, is1904: boolean): Shown {
  const { value } = cell;
  if (cell.computed === "failed") return { text: `=${cell.formula}`, align: "left", colour: "#777777" };
  if (value === null) return { text: "", align: look.align ?? "left", colour: null };
  if (typeof value === "boolean") return { text: value ? "TRUE" : "FALSE", align: look.align ?? "center", colour: null };
  if (typeof value === "string") return { text: written(look.format, value), align: look.align ?? (/^#[A-Z/0!?]+[!?A]$/.test(value) ? "center" : "left"), colour: null };
  const number = is1904 && isDateFormat(look.format) ? value + DAYS_TO_1904 : value;
  const colour = safely(() => formatColor(look.format, number), null);
  return { text: written(look.format, number), align: look.align ?? "right", colour: typeof colour === "string" && /^[a-z]+$|^#[0-9a-f]{6}$/i.test(colour) ? colour : null };
}

/** The country beside a currency's sign says which currency it is, not how its numbers are written. */
const withoutCountry = (pattern: string): string => pattern.replace(/\[\$([^\]-]+)-[0-9A-Fa-f]+\]/g, "[$$$1]");

/** A format that cannot be read leaves the value as it is. */
const written = (pattern: string, value: string | number): string => safely(() => format(withoutCountry(pattern), value), String(value));

function safely<T>(work: () => T, otherwise: T): T {
  try {
    return work();
  } catch {
    return otherwise;
  }
}
