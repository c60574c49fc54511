// From values to places, and from values to words. Pure.

export type Scale = { min: number; max: number; ticks: readonly number[] };

const WANTED_TICKS = 6;

/** A scale with round numbers that has all values in it, and what a file asks for where it makes sense. */
export function scaleOf(values: readonly number[], wanted: { min: number | null; max: number | null }, hasZero: boolean): Scale {
  const [least, most] = limits(values);
  // What stands on a ground begins there; what only lies somewhere may be looked at more closely.
  const isFar = !hasZero && least > 0 && most - least < most * 0.4;
  const low = wanted.min ?? (isFar ? least : Math.min(0, least));
  const high = wanted.max ?? Math.max(hasZero ? 0 : -Infinity, most);
  const [from, to] = high > low ? [low, high] : [low, low + (Math.abs(low) || 1)];
  const step = roundStep((to - from) / WANTED_TICKS);
  const min = wanted.min ?? Math.floor(from / step) * step;
  const max = wanted.max !== null && wanted.max > min ? wanted.max : Math.ceil((to + step * 0.01) / step) * step;
  const ticks: number[] = [];
  // Counted, not added up: at the end of a number's digits a step would change nothing, for ever.
  for (let n = 0; n <= 4 * WANTED_TICKS && min + n * step <= max + step * 1e-6; n += 1) ticks.push(min + n * step);
  return { min, max: max > min ? max : min + 1, ticks };
}

export function limits(values: readonly number[]): [number, number] {
  let [least, most] = [Infinity, -Infinity];
  for (const value of values) {
    if (value < least) least = value;
    if (value > most) most = value;
  }
  return least <= most ? [least, most] : [0, 1];
}

/** One, two or five, and noughts. */
function roundStep(step: number): number {
  const power = 10 ** Math.floor(Math.log10(step));
  const part = step / power;
  return (part <= 1 ? 1 : part <= 2 ? 2 : part <= 5 ? 5 : 10) * power || 1;
}

/** Where a value lies, 0 to 1; never outside by more than a bar may be cut. */
export const part = (value: number, { min, max }: Scale): number => Math.max(-0.02, Math.min(1.02, (value - min) / (max - min)));

/** A number as a sheet's format wants it: percent, money, thousands, digits after the point; else as short as it can be. */
export function formatted(value: number, format: string): string {
  const [positive = ""] = format.split(";");
  const plain = positive.replace(/\[[^\]]*\]|\\|_./g, "");
  if (plain === "" || /general|@|[ymdh]/i.test(plain.replace(/"[^"]*"/g, ""))) return short(value);
  const body = /[#0?][#0?,.]*/.exec(plain.replace(/"[^"]*"/g, ""))?.[0];
  if (body === undefined) return short(value);
  const isPercent = /%/.test(plain.replace(/"[^"]*"/g, ""));
  const digits = Math.min(6, (body.split(".")[1] ?? "").length);
  const number = (isPercent ? value * 100 : value).toLocaleString("en-US", { minimumFractionDigits: digits, maximumFractionDigits: digits, useGrouping: body.includes(",") });
  const [before = "", after = ""] = plain.replaceAll('"', "").split(body);
  return number.length > 24 ? short(value) : `${before.trim().slice(0, 4)}${number}${after.slice(0, 8)}`;
}

function short(value: number): string {
  const size = Math.abs(value);
  if (size >= 1e15 || (size > 0 && size < 1e-6)) return value.toExponential(2);
  return Number(value.toPrecision(6)).toLocaleString("en-US", { maximumFractionDigits: 6, useGrouping: size >= 10_000 });
}
