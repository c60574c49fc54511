// Arguments of functions of spreadsheets, as the formula library gives them. Pure.
import type { Scalar } from "./criteria";

/** A value, or rows of values. */
export type Arg = { value: unknown; isArray?: boolean; isRangeRef?: boolean; isCellRef?: boolean; omitted?: boolean };
export type Errors = { DIV0: unknown; NA: unknown; NUM: unknown; VALUE: unknown; REF: unknown };
export type Fn = (...args: Arg[]) => unknown;

/** Errors of the library are objects. */
const isError = (value: unknown): boolean => typeof value === "object" && value !== null && !Array.isArray(value);

export const cells = (arg: Arg | undefined): Scalar[] => (arg === undefined ? [] : Array.isArray(arg.value) ? ((arg.value as unknown[]).flat() as Scalar[]) : [arg.value as Scalar]);
export const first = (arg: Arg | undefined): Scalar => cells(arg)[0] ?? null;

/** Ends a function with an error, which the library takes as its value. */
export function stop(error: unknown): never {
  throw error;
}

/** Reads arguments; what is wrong with them ends the function with one of `errors`. */
export class Reader {
  constructor(readonly errors: Errors) {}

  number = (arg: Arg | undefined, usual?: number): number => {
    if ((arg === undefined || arg.omitted) && usual !== undefined) return usual;
    const value = first(arg);
    if (isError(value)) stop(value);
    const read = value === null || value === "" ? 0 : Number(value);
    return Number.isFinite(read) ? read : stop(this.errors.VALUE);
  };

  /** Numbers of ranges. Texts and truth values in them do not count, and errors spread. */
  numbers = (args: readonly Arg[]): number[] =>
    args.flatMap((arg) => cells(arg).flatMap((value): number[] => {
      if (isError(value)) stop(value);
      if (typeof value === "number") return [value];
      const isGiven = !arg.isRangeRef && !arg.isCellRef && !arg.isArray && !arg.omitted;
      return isGiven && value !== null && value !== "" && Number.isFinite(Number(value)) ? [Number(value)] : [];
    }));

  text = (arg: Arg | undefined): string => textOf(first(arg));
}

export function textOf(value: Scalar): string {
  if (isError(value)) stop(value);
  return value === null ? "" : typeof value === "boolean" ? (value ? "TRUE" : "FALSE") : String(value);
}
