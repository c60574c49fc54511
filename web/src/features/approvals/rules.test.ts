import { expect, it } from "vitest";
import { lineOf, patternOf } from "./rules";

it("shows a rule as it is compared", () => {
  expect(lineOf({ tool: "bash", scope: "prefix", pattern: "git" })).toBe("bash: git *");
  expect(patternOf({ tool: "bash", scope: "prefix", pattern: "git push *" })).toBe("git push *");
  expect(lineOf({ tool: "bash", scope: "exact", pattern: "rm *" })).toBe("bash: rm *");
  expect(lineOf({ tool: "write", scope: "directory", pattern: "/outputs/" })).toBe("write: /outputs/");
  expect(lineOf({ tool: "bash", scope: "tool", pattern: "*" })).toBe("bash: everything");
  expect(lineOf({ tool: "bash", scope: "exact", pattern: "ls\u202e" })).toBe("bash: ls⟨202E⟩");
});
