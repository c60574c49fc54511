import { expect, it } from "vitest";
import { doubtOf, modelsOf } from "./models";

it("doubts names of no known family and names with spaces", () => {
  expect([...modelsOf("claude-code"), ...modelsOf("codex"), ...modelsOf("gemini-cli"), "openai/gpt-5", ""].map(doubtOf).filter(Boolean)).toEqual([]);
  expect(doubtOf("gpt banana")).toMatch(/no spaces/);
  expect(doubtOf("gpt-banana")).toMatch(/Not a model name/);
});
