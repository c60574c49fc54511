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
  return { ...statistics(reader), ...lookups(reader), ...texts(reader), ...money(reader.number, reader.numbers, fail), ROUND: (value: Arg, digits: Arg) => rounded(reader.number(value), Math.trunc(reader.number(digits))), CHOOSE: choose } as Record<string, (...args: never[]) => unknown>;
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
