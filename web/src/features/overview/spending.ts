// What was spent over time, in buckets. Pure but for the dates it is given.
import type { UsageReport, Usage } from "@warren/react";

export type Span = "day" | "fortnight" | "quarter";

export type Bucket = { from: Date; to: Date; label: string };

export type Spent = { bucket: Bucket; byAgent: ReadonlyMap<string, number>; cost: number; cached: number; input: number; output: number };

const HOUR = 3_600_000;

/** The buckets of a span, oldest first; the last one holds now. */
export function bucketsOf(span: Span, now: Date): Bucket[] {
  if (span === "day") {
    const end = new Date(now);
    end.setMinutes(60, 0, 0);
    return steps(12, (n) => new Date(end.getTime() - n * 2 * HOUR), (from) => `${String(from.getHours()).padStart(2, "0")}`);
  }
  const end = new Date(now);
  end.setHours(24, 0, 0, 0);
  const days = span === "fortnight" ? 1 : 7;
  const back = (n: number) => {
    const day = new Date(end);
    day.setDate(day.getDate() - n * days);
    return day;
  };
  return steps(span === "fortnight" ? 14 : 13, back, (from) => String(from.getDate()));
}

function steps(n: number, back: (n: number) => Date, label: (from: Date) => string): Bucket[] {
  return Array.from({ length: n }, (_, at) => {
    const [from, to] = [back(n - at), back(n - at - 1)];
    return { from, to, label: label(from) };
  });
}

export function spentIn(bucket: Bucket, report: UsageReport): Spent {
  const usage: Usage = report.total;
  return {
    bucket,
    byAgent: new Map(report.rows.map((row) => [row.group, row.usage.costUSD ?? 0])),
    cost: usage.costUSD ?? 0,
    cached: usage.cacheReadTokens ?? 0,
    input: (usage.inputTokens ?? 0) + (usage.cacheWriteTokens ?? 0),
    output: usage.outputTokens ?? 0,
  };
}

/** A round number at or above `value`, for the top of an axis. */
export function roundUp(value: number): number {
  if (value <= 0) return 1;
  const unit = 10 ** Math.floor(Math.log10(value));
  const step = [1, 2, 4, 5, 10].find((n) => n * unit >= value) ?? 10;
  return step * unit;
}

/** The chart as a sentence. */
export function inWords(spent: readonly Spent[], money: (usd: number) => string): string {
  const total = spent.reduce((sum, one) => sum + one.cost, 0);
  const most = spent.reduce<Spent | null>((best, one) => (one.cost > (best?.cost ?? 0) ? one : best), null);
  if (!most) return "Nothing was spent in this period.";
  const day = most.bucket.from.toLocaleDateString("en-GB", { day: "numeric", month: "long" });
  return `${money(total)} in all; the most, ${money(most.cost)}, from ${day}; ${money(spent.at(-1)?.cost ?? 0)} in the last bar.`;
}
