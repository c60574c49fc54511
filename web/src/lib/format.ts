// How numbers, sizes, times and names are written. Pure.

const two = (n: number) => String(n).padStart(2, "0");

export function bytes(n: number): string {
  if (n < 1000) return `${n} B`;
  const units = ["KB", "MB", "GB", "TB"];
  let value = n;
  let unit = -1;
  do {
    value /= 1000;
    unit += 1;
  } while (value >= 999.5 && unit < units.length - 1);
  return `${value < 10 && unit > 0 ? value.toFixed(1) : Math.round(value)} ${units[unit]}`;
}

export const count = (n: number): string => n.toLocaleString("en");

/** 37,700,000 → “37.7 M”. */
export function short(n: number): string {
  if (n < 1000) return String(n);
  const [value, unit] = n < 1e6 ? [n / 1e3, "k"] : n < 1e9 ? [n / 1e6, "M"] : [n / 1e9, "G"];
  return `${value < 100 ? value.toFixed(1).replace(/\.0$/, "") : Math.round(value)} ${unit}`;
}

export const plural = (n: number, one: string, many = `${one}s`): string => `${count(n)} ${n === 1 ? one : many}`;

export function cost(usd: number): string {
  if (usd !== 0 && usd < 0.01) return "< $0.01";
  return `$${usd.toFixed(2)}`;
}

/** A span as a clock shows it: 2:14, 1:04:09. */
export function clock(ms: number): string {
  const total = Math.max(0, Math.floor(ms / 1000));
  const [h, m, s] = [Math.floor(total / 3600), Math.floor(total / 60) % 60, total % 60];
  return h > 0 ? `${h}:${two(m)}:${two(s)}` : `${m}:${two(s)}`;
}

/** A span in words: 0.2 s, 12 s, 3 min. */
export function span(ms: number): string {
  if (ms < 10_000) return `${(ms / 1000).toFixed(1)} s`;
  if (ms < 60_000) return `${Math.round(ms / 1000)} s`;
  return ms < 3_600_000 ? `${Math.round(ms / 60_000)} min` : `${Math.round(ms / 3_600_000)} h`;
}

/** When something was or will be, as short as it can be said: 12:29 today, Sat within a week, 3 Nov else, with its year if it is far. */
export function when(time: string | number, now: number = Date.now()): string {
  const at = new Date(time);
  const days = Math.floor((midnight(now) - midnight(at.getTime())) / 86_400_000);
  if (days === 0) return `${two(at.getHours())}:${two(at.getMinutes())}`;
  if (Math.abs(days) < 7) return at.toLocaleDateString("en", { weekday: "short" });
  return at.toLocaleDateString("en-GB", { day: "numeric", month: "short", year: Math.abs(days) > 300 ? "numeric" : undefined });
}

function midnight(time: number): number {
  const day = new Date(time);
  day.setHours(0, 0, 0, 0);
  return day.getTime();
}
