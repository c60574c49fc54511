// Functions that look something up. Pure.
import { cells, first, stop, type Fn, type Reader } from "./arguments";
import { matcher, type Scalar } from "./criteria";

export function compare(a: Scalar, b: Scalar): number {
  if (typeof a === "number" && typeof b === "number") return a - b;
  const [one, other] = [String(a ?? "").toLowerCase(), String(b ?? "").toLowerCase()];
  return one < other ? -1 : one === other ? 0 : 1;
}
export const isSameKind = (a: Scalar, b: Scalar): boolean => a !== null && typeof a === typeof b;

/** Exactly, or in a sorted list: upwards the last that is not above it, downwards the last that is not below it. */
function position(wanted: Scalar, list: readonly Scalar[], how: number): number {
  if (how === 0) return list.findIndex(matcher(wanted, true));
  return list.findLastIndex((one) => isSameKind(one, wanted) && (how > 0 ? compare(one, wanted) <= 0 : compare(one, wanted) >= 0));
}

/** The nearest above, or below, in a list in any order. */
function nearest(wanted: Scalar, list: readonly Scalar[], way: number): number {
  let found = -1;
  list.forEach((one, at) => {
    const isBeyond = isSameKind(one, wanted) && compare(one, wanted) * way > 0;
    if (isBeyond && (found < 0 || compare(one, list[found]!) * way < 0)) found = at;
  });
  return found;
}

export function lookups({ errors, number }: Reader): Record<string, Fn> {
  const xlookup: Fn = (wanted, among, results, missing, how) => {
    const [list, value, way] = [cells(among), first(wanted), number(how, 0)];
    const exact = list.findIndex((one) => (way === 2 ? matcher(value, true)(one) : isSameKind(one, value) && compare(one, value) === 0));
    const at = exact < 0 && Math.abs(way) === 1 ? nearest(value, list, way) : exact;
    if (at < 0) return missing && !missing.omitted ? first(missing) : stop(errors.NA);
    const rows = (Array.isArray(results?.value) ? results.value : [[results?.value]]) as Scalar[][];
    return (rows.length === list.length ? rows[at]?.[0] : rows[0]?.[at]) ?? 0;
  };
  return {
    MATCH: (wanted, list, how) => {
      const at = position(first(wanted), cells(list), number(how, 1));
      return at < 0 ? stop(errors.NA) : at + 1;
    },
    XLOOKUP: xlookup,
    LOOKUP: (wanted, among, results) => {
      const list = cells(among);
      const at = position(first(wanted), list, 1);
      return at < 0 ? stop(errors.NA) : ((results ? cells(results) : list)[at] ?? 0);
    },
    SWITCH: (value, ...rest) => {
      for (let at = 0; at + 1 < rest.length; at += 2) if (isSameKind(first(value), first(rest[at])) && compare(first(value), first(rest[at])) === 0) return first(rest[at + 1]);
      return rest.length % 2 === 1 ? first(rest.at(-1)) : stop(errors.NA);
    },
  };
}
