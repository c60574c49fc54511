import { expect, it } from "vitest";
import { backendOf, guardsOf, inWords } from "./isolation";

const REPORT = { backend: "local", cgroup: { cpu: true, memory: true, pids: true, version: 1 }, disk: { how: "best effort" }, landlock: 7, netns: true, pidns: true, seccomp: true, uid: { own: true, uid: 200000 }, userns: true };

it("says which guards are in force, which partly and which not", () => {
  const guards = guardsOf(REPORT)!;
  expect(inWords(guards)).toBe("7 of 8 guards in force");
  expect(guards.filter((guard) => guard.state !== "on")).toEqual([{ name: "Disk", state: "part", words: "measured, not enforced by the kernel" }]);
  expect(guardsOf({ ...REPORT, seccomp: false })!.find((guard) => guard.name === "System calls")).toEqual({ name: "System calls", state: "off", words: "all allowed" });
  expect(backendOf(REPORT)).toBe("bubblewrap");
});

it("claims nothing when nothing was reported", () => {
  expect(guardsOf(null)).toBeNull();
  expect(guardsOf({})!.filter((guard) => guard.state === "on")).toEqual([]);
});
