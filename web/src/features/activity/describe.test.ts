import type { LogLine } from "@warren/react";
import { expect, test } from "vitest";
import { gathered, labelOf } from "./describe";

const line = (seq: number, body: object) => ({ seq, sessionId: "s", timestamp: "2026-01-01T00:00:00Z", ...body }) as LogLine;

test("deltas of one block are one row, and everything else has its own", () => {
  const rows = gathered([
    line(1, { type: "run_started", input: "hi", baseVersion: 2 }),
    line(2, { type: "text_delta", blockId: "a", delta: "x" }),
    line(3, { type: "text_delta", blockId: "a", delta: "y" }),
    line(4, { type: "text_delta", blockId: "b", delta: "z" }),
    line(5, { type: "weather_changed" }),
  ]);
  expect(rows.map((row) => [row.number, row.type, row.text])).toEqual([
    ["1", "run_started", "from v2 · hi"],
    ["3", "text_delta", "main · 2 deltas"],
    ["4", "text_delta", "main · 1 delta"],
    ["5", "weather_changed", ""],
  ]);
});

test("a compacted range says what is kept and what is not", () => {
  const [row] = gathered([{ type: "log_compacted", from: 1, to: 900 }]);
  expect(row?.text).toBe("Events 1 to 900 were compacted. Blocks are complete, deltas are removed.");
});

test("a model call says when its cost is an estimate and when its end is unknown", () => {
  const call = (status: number, usage: object) =>
    line(1, { type: "model_called", model: "m", status, ms: 1500, costUSD: 0.5, usage });
  const rows = gathered([
    line(1, { type: "model_call_started", model: "m", maxTokens: 64_000 }),
    call(200, { totalTokens: 5 }),
    call(499, { totalTokens: 5, estimatedTokens: 5 }),
    call(0, { totalTokens: 5, estimatedTokens: 5 }),
  ]);
  expect(rows.map((row) => row.text)).toEqual([
    "m · at most 64,000 tokens",
    "m · 200 · 1.5 s · $0.50",
    "m · 499 · 1.5 s · $0.50 (estimate)",
    "m · end unknown · $0.50 (estimate)",
  ]);
});

test("kinds of events have names for people, also those of a newer server", () => {
  expect(["version_committed", "run_interrupted", "brand_new"].map(labelOf)).toEqual(["Version saved", "Run stopped", "brand new"]);
});
