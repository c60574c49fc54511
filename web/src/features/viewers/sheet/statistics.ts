// Sums, counts and statistics, also by criteria. Pure.
import { cells, first, stop, type Arg, type Fn, type Reader } from "./arguments";
import { matcher } from "./criteria";

const sum = (all: readonly number[]): number => all.reduce((a, b) => a + b, 0);
const sorted = (all: readonly number[]): number[] => [...all].sort((a, b) => a - b);
const largest = (all: readonly number[]): number => all.reduce((a, b) => Math.max(a, b), all[0] ?? 0);
const smallest = (all: readonly number[]): number => all.reduce((a, b) => Math.min(a, b), all[0] ?? 0);
const isFilled = (arg: Arg): number => cells(arg).filter((value) => value !== null).length;

/** The numbers of a function's arguments, put into one result. */
type Fold = (all: number[]) => number;

function folds({ errors }: Reader): Record<"mean" | "variance" | "varianceOfAll", Fold> {
  const mean: Fold = (all) => (all.length > 0 ? sum(all) / all.length : stop(errors.DIV0));
  const spread = (less: number): Fold => (all) => {
    if (all.length <= less) stop(errors.DIV0);
    const middle = mean(all);
    return sum(all.map((one) => (one - middle) ** 2)) / (all.length - less);
  };
  return { mean, variance: spread(1), varianceOfAll: spread(0) };
}

export function statistics(reader: Reader): Record<string, Fn> {
  const { errors, number, numbers } = reader;
  const { variance, varianceOfAll } = folds(reader);
  const of = (fold: Fold): Fn => (...args) => fold(numbers(args));
  const root = (fold: Fold): Fold => (all) => Math.sqrt(fold(all));
  const quantile = (all: number[], part: number): number => {
    if (!(part >= 0 && part <= 1) || all.length === 0) stop(errors.NUM);
    const [list, at] = [sorted(all), part * (all.length - 1)];
    const [low, high] = [list[Math.floor(at)]!, list[Math.ceil(at)]!];
    return low + (high - low) * (at - Math.floor(at));
  };
  const rank: Fn = (value, among, order) => {
    const [one, list] = [number(value), numbers([among!])];
    if (!list.includes(one)) stop(errors.NA);
    return list.filter((other) => (number(order, 0) ? other < one : other > one)).length + 1;
  };
  const mode: Fn = (...args) => {
    const counts = new Map<number, number>();
    for (const one of numbers(args)) counts.set(one, (counts.get(one) ?? 0) + 1);
    const [best] = [...counts].sort((a, b) => b[1] - a[1]);
    return best && best[1] > 1 ? best[0] : stop(errors.NA);
  };
  const percentile: Fn = (range, part) => quantile(numbers([range!]), number(part));
  const quartile: Fn = (range, n) => quantile(numbers([range!]), number(n) / 4);
  const nth = (list: number[], n: Arg | undefined) => list[Math.ceil(number(n)) - 1] ?? stop(errors.NUM);
  return {
    COUNTA: (...args) => sum(args.map(isFilled)),
    COUNTBLANK: (range) => cells(range).filter((value) => value === null || value === "").length,
    MAX: of(largest), MIN: of(smallest), MEDIAN: of((all) => quantile(all, 0.5)), MODE: mode, "MODE.SNGL": mode, RANK: rank, "RANK.EQ": rank,
    LARGE: (range, n) => nth(sorted(numbers([range!])).reverse(), n), SMALL: (range, n) => nth(sorted(numbers([range!])), n),
    STDEV: of(root(variance)), "STDEV.S": of(root(variance)), STDEVP: of(root(varianceOfAll)), "STDEV.P": of(root(varianceOfAll)),
    VAR: of(variance), "VAR.S": of(variance), VARP: of(varianceOfAll), "VAR.P": of(varianceOfAll),
    PERCENTILE: percentile, "PERCENTILE.INC": percentile, QUARTILE: quartile, "QUARTILE.INC": quartile,
    SUBTOTAL: subtotal(reader), ...byCriteria(reader),
  };
}

/** The first argument says which function it is. */
function subtotal(reader: Reader): Fn {
  const { mean, variance, varianceOfAll } = folds(reader);
  const kinds: Record<number, Fold> = {
    1: mean, 2: (all) => all.length, 4: largest, 5: smallest, 6: (all) => all.reduce((a, b) => a * b, 1),
    7: (all) => Math.sqrt(variance(all)), 8: (all) => Math.sqrt(varianceOfAll(all)), 9: sum, 10: variance, 11: varianceOfAll,
  };
  return (kind, ...args) => {
    const n = reader.number(kind) % 100;
    return n === 3 ? sum(args.map(isFilled)) : (kinds[n]?.(reader.numbers(args)) ?? stop(reader.errors.VALUE));
  };
}

/** Functions of `range, criterion, …`. */
function byCriteria(reader: Reader): Record<string, Fn> {
  const { errors } = reader;
  const places = (pairs: readonly Arg[]): number[] => {
    const ranges = pairs.filter((_, at) => at % 2 === 0).map(cells);
    const tests = pairs.filter((_, at) => at % 2 === 1).map((arg) => matcher(first(arg)));
    if (ranges.some((range) => range.length !== ranges[0]!.length)) stop(errors.VALUE);
    return (ranges[0] ?? []).flatMap((_, at) => (ranges.every((range, n) => tests[n]!(range[at] ?? null)) ? [at] : []));
  };
  const of = (fold: Fold): Fn => (values, ...pairs) => {
    const list = cells(values);
    return fold(places(pairs).map((at) => list[at] ?? null).filter((value) => typeof value === "number"));
  };
  return { SUMIFS: of(sum), AVERAGEIFS: of(folds(reader).mean), MAXIFS: of(largest), MINIFS: of(smallest), COUNTIFS: (...pairs) => places(pairs).length };
}
