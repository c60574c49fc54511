import { expect, test } from "vitest";
import { answers, demoNotice, findingsOf } from "./doctor";
import { guardsOf } from "../shell/isolation";

/** As a server on a machine without Landlock answers. */
const FOUND = {
  isolation: {
    backend: "local",
    version: "0.8.0",
    usable: true,
    isolation: { backend: "local", userns: true, pidns: true, netns: true, seccomp: true, landlock: null, cgroup: { version: 1, memory: true, cpu: true, pids: true }, uid: { own: true, uid: 70001 }, disk: { how: "best effort" }, notes: [] },
    hints: [{ layer: "landlock", problem: "the kernel has no Landlock", hint: "use a kernel of 5.13 or newer" }],
  },
  agents: ["builtin", "claude-code"],
  models: [{ format: "Anthropic", target: "demo", hasKey: false }, { format: "OpenAi", target: "api.openai.com", hasKey: true }],
};

test("what a server found is read from where it stands", () => {
  const found = findingsOf(FOUND);
  expect(found).toMatchObject({ usable: true, program: "local 0.8.0" });
  expect(found.guards.find((guard) => guard.name === "Files")?.state).toBe("off");
  expect(found.hints).toEqual([{ problem: "the kernel has no Landlock", hint: "use a kernel of 5.13 or newer" }]);
  expect(found.models.map(answers)).toEqual(["demo model: no API key", "api.openai.com, API key set"]);
});

test("warnings of the server stand beside those of the sandbox, each with its fix", () => {
  const warnings = [{ problem: "no API key for Anthropic: the demo model answers with scripted replies", hint: "set ANTHROPIC_API_KEY and restart `warren up`" }];
  const found = findingsOf({ ...FOUND, warnings });
  expect(found.hints.map((hint) => hint.hint)).toEqual(["use a kernel of 5.13 or newer", "set ANTHROPIC_API_KEY and restart `warren up`"]);
  expect(demoNotice("claude-code", found)).toBe("No API key is set for Anthropic: the demo model will answer, with scripted replies at no cost. For a real model, set ANTHROPIC_API_KEY and restart warren up.");
  expect(demoNotice("builtin", found)).toBe("No API key is set for Anthropic, the default here: the demo model will answer, with scripted replies at no cost. Choose a model of OpenAI, whose key is set.");
  expect(demoNotice("codex", found)).toBeNull();
  expect(demoNotice("opencode", found)).toBeNull();
});

test("no UID is named for the machine, where each workspace gets another", () => {
  const isolation = { uid: { own: true, uid: 70001 } };
  const user = (guards: ReturnType<typeof guardsOf>) => guards?.find((guard) => guard.name === "User")?.words;
  expect(user(findingsOf({ isolation: { isolation } }).guards)).toBe("a user of its own for each workspace");
  expect(user(guardsOf(isolation))).toBe("a user of its own (70001)");
});

test("one fix for two problems is told once", () => {
  const hints = [{ problem: "no memory limit", hint: "delegate a cgroup" }, { problem: "no CPU limit", hint: "delegate a cgroup" }];
  expect(findingsOf({ isolation: { hints } }).hints).toEqual([{ problem: "no memory limit; no CPU limit", hint: "delegate a cgroup" }]);
});

test("a machine of which nothing is known is not called usable", () => {
  expect(findingsOf({})).toEqual({ usable: false, program: "", guards: [], hints: [], models: [] });
});
