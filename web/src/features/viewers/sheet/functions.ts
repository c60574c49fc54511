// Functions of spreadsheets that the formula library lacks. Pure.
import { cells, first, Reader, stop, textOf, type Arg, type Errors, type Fn } from "./arguments";
import { lookups } from "./lookups";
import { money } from "./money";
import { statistics } from "./statistics";

/** The functions by name. `errors` are the library's own, which are thrown. */
export function functions(errors: Errors): Record<string, (...args: never[]) => unknown> {
  const reader = new Reader(errors);
  const fail = () => stop(errors.NUM);
  // The library passes itself first to this one.
  const choose = (_library: unknown, at: Arg, ...values: Arg[]) => values[Math.trunc(reader.number(at)) - 1]?.value ?? stop(errors.VALUE);
  return { ...statistics(reader), ...lookups(reader), ...texts(reader), ...money(reader.number, reader.numbers, fail), ROUND: (value: Arg, digits: Arg) => rounded(reader.number(value), Math.trunc(reader.number(digits))), CHOOSE: choose, INDEX: index(reader) } as Record<string, (...args: never[]) => unknown>;
}

type Library = { utils: { extractRefValue: (arg: unknown) => { val: unknown } } };

/** The library passes itself and its arguments unread to this one. Its own forgets the sheet of the range. */
function index({ errors, number }: Reader) {
  return (library: Library, range: unknown, row: unknown, column?: unknown): unknown => {
    const read = (arg: unknown): unknown => (arg === undefined || arg === null ? null : library.utils.extractRefValue(arg).val);
    const held = read(range);
    const rows = (Array.isArray(held) ? held : [[held]]) as unknown[][];
    const given = [row, column].map((arg) => Math.trunc(number({ value: read(arg) })));
    // One index into a single row counts its columns.
    const [r, c] = column === undefined && rows.length === 1 ? [1, given[0]!] : [given[0]!, column === undefined ? 1 : given[1]!];
    if (r < 0 || c < 0 || r > rows.length || c > rows[0]!.length) stop(errors.REF);
    const chosen = r === 0 ? rows : [rows[r - 1]!];
    if (r > 0 && c > 0) return chosen[0]![c - 1] ?? 0;
    return c === 0 ? chosen : chosen.map((line) => [line[c - 1]]);
  };
}

const NUMBER = /^\s*[-+]?[\d,]*\.?\d+(?:e[-+]?\d+)?%?\s*$/i;

function texts({ errors, number, text }: Reader): Record<string, Fn> {
  return {
    UPPER: (one) => text(one).toUpperCase(),
    HYPERLINK: (address, name) => first(name ?? address),
    TEXTJOIN: (between, skips, ...args) => args.flatMap(cells).map(textOf).filter((one) => one !== "" || !number(skips)).join(text(between)),
    VALUE: (one) => {
      const value = first(one);
      if (typeof value === "number") return value;
      const words = text(one);
      return NUMBER.test(words) ? Number(words.replace(/[,%\s]/g, "")) / (words.includes("%") ? 100 : 1) : stop(errors.VALUE);
    },
  };
}

/** Rounds by decimal digits: 1.005 is a little less than it reads. */
function rounded(value: number, digits: number): number {
  const shift = (text: string, by: number) => {
    const [mantissa, power = "0"] = text.split("e");
    return Number(`${mantissa}e${Number(power) + by}`);
  };
  return Math.sign(value) * shift(String(Math.round(shift(String(Math.abs(value)), digits))), -digits);
}
