import type { ModelItem } from "@warren/react";
import { expect, it } from "vitest";
import { DEMO, doubtOf, idOf, matchingModels, modelsFor, optionsFor, priceWords, willAnswer, windowWords } from "./models";

const model = (id: string, more: Partial<ModelItem> = {}): ModelItem => ({ id, provider: "anthropic", agents: ["builtin"], ...more });
const OPUS = model("claude-opus-4-5", { displayName: "Claude Opus 4.5", contextWindow: 200_000, price: { input: 5, output: 25, cacheRead: 0.5 } });
const MINI = model("gpt-5-mini", { provider: "openai", agents: ["builtin", "codex"], price: { input: 0.25, output: 2, cacheRead: 0.025 } });
const GPT = model("gpt-5", { provider: "openai", agents: ["codex"] });
const ALL = [OPUS, MINI, GPT];

it("offers an agent the models that it can use", () => {
  expect(modelsFor("codex", ALL)).toEqual([MINI, GPT]);
  expect(modelsFor("gemini-cli", ALL)).toEqual([]);
});

it("finds models by any words of their names and providers", () => {
  expect(matchingModels(ALL, "OPUS 4.5")).toEqual([OPUS]);
  expect(matchingModels(ALL, "openai")).toEqual([MINI, GPT]);
  expect(matchingModels(ALL, "")).toEqual(ALL);
  expect(matchingModels(ALL, "banana")).toEqual([]);
});

it("offers the agent’s own choice first, and a name that is not listed last", () => {
  expect(optionsFor([OPUS], "")).toEqual([{ kind: "default" }, { kind: "listed", model: OPUS }]);
  expect(optionsFor(ALL, "gpt-5")).toEqual([{ kind: "listed", model: GPT }, { kind: "listed", model: MINI }]);
  expect(optionsFor(ALL, "gpt-5-m").map(idOf)).toEqual(["gpt-5-mini", "gpt-5-m"]);
  expect(optionsFor(ALL, " qwen3 ")).toEqual([{ kind: "typed", id: "qwen3" }]);
  expect(optionsFor(ALL, "two words")).toEqual([]);
});

it("says what a model costs and how much it can be told, as far as that is known", () => {
  expect(ALL.map(priceWords)).toEqual(["$5 in, $25 out", "$0.25 in, $2 out", "price unknown"]);
  expect(priceWords(model("demo", { price: { input: 0, output: 0, cacheRead: 0 } }))).toBe("free");
  expect(ALL.map(windowWords)).toEqual(["200 k context", "", ""]);
});

it("doubts a name that nobody lists, once it cannot become one that is listed", () => {
  expect(["", "gpt", "gpt-5", "opus 4.5"].map((name) => doubtOf(name, ALL))).toEqual([null, null, null, null]);
  expect(doubtOf("gpt banana", ALL)).toMatch(/no spaces/);
  expect(doubtOf("gpt-banana", ALL)).toMatch(/No provider lists/);
});

it("names the model that answers next, whatever answered before", () => {
  const demo = [model(DEMO, { provider: "demo", agents: ["builtin", "acp"] })];
  const next = (more: Partial<Parameters<typeof willAnswer>[0]>) => willAnswer({ agent: "builtin", models: demo, ...more });
  // A fork of a session that the demo model answered under another name, and one that waits for its first answer.
  expect([next({ answered: "claude-sonnet-4-5" }), next({})]).toEqual([DEMO, DEMO]);
  expect(next({ chosen: "claude-opus-4-5", answered: DEMO })).toBe("claude-opus-4-5");
  expect(next({ models: [OPUS], answered: "claude-sonnet-4-5" })).toBe("claude-sonnet-4-5");
  expect(next({ models: [OPUS], answered: DEMO })).toBeUndefined();
  expect(next({ agent: "acp", answered: "gpt-5" })).toBe("gpt-5");
  expect(next({ models: undefined, answered: "claude-sonnet-4-5" })).toBeUndefined();
});
