import { expect, test } from "vitest";
import { lastOf, type Run } from "./state";

const run = (runId: string, times: Partial<Run>): Run => ({ runId, status: "failed", content: runId, ...times });
const begun = run("begun", { startedAt: "2026-01-01T00:00:00Z", endedAt: "2026-01-01T00:00:05Z" });

test("message that steered a run is not the last run", () => {
  expect(lastOf([begun, run("steered", { endedAt: "2026-01-01T00:00:05Z" })])).toBe(begun);
});

test("refused message is the last run", () => {
  const refused = run("refused", { endedAt: "2026-01-01T00:00:06Z" });
  expect(lastOf([begun, refused])).toBe(refused);
  expect(lastOf([refused])).toBe(refused);
});

test("active run is the last one, and waiting ones are none", () => {
  const active = run("active", { status: "running", startedAt: "2026-01-01T00:00:07Z" });
  expect(lastOf([begun, run("refused", { endedAt: "2026-01-01T00:00:06Z" }), active])).toBe(active);
  expect(lastOf([run("waits", { status: "queued" })])).toBe(null);
});
