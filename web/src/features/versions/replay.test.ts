import type { Replay, Version } from "@warren/react";
import { expect, test } from "vitest";
import { inShort } from "./replay";
import { titleOf } from "./title";

const replay = (more: Partial<Replay>) => ({ status: "done", differences: [], ...more }) as Replay;

test("a replay says whether it came out the same, and where it did not", () => {
  expect(inShort(replay({ status: "running" })).text).toBe("Replaying…");
  expect(inShort(replay({ diverged: false })).text).toBe("Replayed, same files");
  expect(inShort(replay({ diverged: true, firstDivergence: { kind: "event", index: 12, message: "x" } })).text).toBe("replay differs at model call 12");
  expect(inShort(replay({ diverged: true })).text).toBe("replay differs");
  expect(inShort(replay({ status: "failed" })).tone).toBe("bad");
});

test("a version is called by its label, else by what was asked for, else by why it was made", () => {
  const version = { version: 3, cause: "run", runId: "r" } as Version;
  const runs = [{ runId: "r", status: "completed" as const, content: "Make it blue\nplease" }];
  expect(titleOf({ ...version, label: "Blue" }, runs)).toBe("Blue");
  expect(titleOf(version, runs)).toBe("Make it blue");
  expect(titleOf({ ...version, cause: "recovered", runId: undefined }, runs)).toBe("Saved after a failed run");
  expect(titleOf({ ...version, version: 0 }, runs)).toBe("Start of the session");
});
