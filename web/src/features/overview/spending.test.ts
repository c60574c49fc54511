import type { UsageReport } from "@warren/react";
import { expect, test } from "vitest";
import { cost } from "~/lib/format";
import { bucketsOf, inWords, roundUp, spentIn } from "./spending";

const now = new Date(2026, 10, 15, 13, 20);

test("fourteen days end with today, ninety are weeks, a day is hours", () => {
  const days = bucketsOf("fortnight", now);
  expect([days.length, days[0]?.label, days.at(-1)?.label, days.at(-1)?.to.getTime()]).toEqual([14, "2", "15", new Date(2026, 10, 16).getTime()]);
  expect(bucketsOf("quarter", now).length).toBe(13);
  expect(bucketsOf("day", now).map((bucket) => bucket.label).at(-1)).toBe("12");
  for (const span of ["day", "fortnight", "quarter"] as const) {
    const all = bucketsOf(span, now);
    all.slice(1).forEach((bucket, at) => expect(bucket.from).toEqual(all[at]?.to));
  }
});

test("a bucket knows what each agent cost, and the sentence says the most", () => {
  const usage = { inputTokens: 5, outputTokens: 2, cacheReadTokens: 9, cacheWriteTokens: 0, thinkingTokens: 0, estimatedTokens: 0, totalTokens: 16, costUSD: 1.5, model: null };
  const report: UsageReport = { rows: [{ group: "codex", runs: 1, usage }], total: usage };
  const spent = bucketsOf("fortnight", now).map((bucket, at) => spentIn(bucket, at === 9 ? report : { rows: [], total: { ...usage, costUSD: 0 } }));
  expect(spent[9]).toMatchObject({ cost: 1.5, cached: 9, input: 5, output: 2 });
  expect(spent[9]?.byAgent.get("codex")).toBe(1.5);
  expect(inWords(spent, cost)).toBe("$1.50 in all; the most, $1.50, from 11 November; $0.00 in the last bar.");
  expect(inWords([], cost)).toBe("Nothing was spent in this period.");
});

test("an axis ends at a round number", () => {
  expect([0, 0.3, 3.1, 8.4, 41, 10].map(roundUp)).toEqual([1, 0.4, 4, 10, 50, 10]);
});
