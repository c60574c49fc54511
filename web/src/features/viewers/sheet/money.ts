// Functions of loans and investments. Pure.
import type { Arg } from "./arguments";

type Fn = (...args: Arg[]) => unknown;
type ReadNumber = (arg: Arg | undefined, usual?: number) => number;

/** Payment of each period: negative, as money that is paid. */
function payment(rate: number, periods: number, present: number, future: number, type: number): number {
  if (rate === 0) return -(present + future) / periods;
  const growth = (1 + rate) ** periods;
  return (-rate * (present * growth + future)) / ((growth - 1) * (1 + rate * type));
}

function futureValue(rate: number, periods: number, each: number, present: number, type: number): number {
  if (rate === 0) return -(present + each * periods);
  const growth = (1 + rate) ** periods;
  return -(present * growth + (each * (1 + rate * type) * (growth - 1)) / rate);
}

export function money(number: ReadNumber, numbers: (args: readonly Arg[]) => number[], fail: () => number): Record<string, Fn> {
  const value = (rate: number, flows: readonly number[]) => flows.reduce((sum, flow, at) => sum + flow / (1 + rate) ** at, 0);
  const finite = (result: number) => (Number.isFinite(result) ? result : fail());
  return {
    PMT: (rate, periods, present, future, type) => finite(payment(number(rate), number(periods), number(present), number(future, 0), number(type, 0))),
    FV: (rate, periods, each, present, type) => finite(futureValue(number(rate), number(periods), number(each), number(present, 0), number(type, 0))),
    PV: (rate, periods, each, future, type) => {
      const [r, n, p, f, t] = [number(rate), number(periods), number(each), number(future, 0), number(type, 0)];
      if (r === 0) return -(f + p * n);
      return finite(-(f + (p * (1 + r * t) * ((1 + r) ** n - 1)) / r) / (1 + r) ** n);
    },
    NPER: (rate, each, present, future, type) => {
      const [r, p, v, f, t] = [number(rate), number(each), number(present), number(future, 0), number(type, 0)];
      if (r === 0) return finite(-(v + f) / p);
      const due = p * (1 + r * t);
      return finite(Math.log((due - f * r) / (due + v * r)) / Math.log(1 + r));
    },
    IPMT: (rate, period, periods, present, future) => {
      const [r, at, n, v, f] = [number(rate), number(period), number(periods), number(present), number(future, 0)];
      if (at < 1 || at > n) return fail();
      return finite(futureValue(r, at - 1, payment(r, n, v, f, 0), v, 0) * r);
    },
    PPMT: (rate, period, periods, present, future) => {
      const [r, at, n, v, f] = [number(rate), number(period), number(periods), number(present), number(future, 0)];
      if (at < 1 || at > n) return fail();
      return finite(payment(r, n, v, f, 0) - futureValue(r, at - 1, payment(r, n, v, f, 0), v, 0) * r);
    },
    NPV: (rate, ...flows) => finite(value(number(rate), [0, ...numbers(flows)])),
    SLN: (cost, salvage, life) => finite((number(cost) - number(salvage)) / number(life)),
    IRR: (range, guess) => {
      const flows = numbers([range!]);
      let [low, high] = [-0.9999, Math.max(10, number(guess, 0.1) * 10)];
      if (value(low, flows) * value(high, flows) > 0) return fail();
      for (let n = 0; n < 200; n += 1) {
        const middle = (low + high) / 2;
        if (value(low, flows) * value(middle, flows) <= 0) high = middle;
        else low = middle;
      }
      return (low + high) / 2;
    },
  };
}
