import { expect, test } from "vitest";
import { answers, findingsOf } from "./doctor";

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
  expect(found).toMatchObject({ usable: true, program: "local 0.8.0", agents: ["builtin", "claude-code"] });
  expect(found.guards.find((guard) => guard.name === "Files")?.state).toBe("off");
  expect(found.hints).toEqual([{ problem: "the kernel has no Landlock", hint: "use a kernel of 5.13 or newer" }]);
  expect(found.models.map(answers)).toEqual(["the demo model, which needs no key", "api.openai.com, with a key"]);
});

test("a machine of which nothing is known is not called usable", () => {
  expect(findingsOf({})).toEqual({ usable: false, program: "", guards: [], hints: [], agents: [], models: [] });
});
