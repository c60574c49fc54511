import { expect, it } from "vitest";
import { marked, matching, type Command } from "./commands";

const command = (label: string, group = "This session"): Command => ({ id: label, group, label, run: () => {} });

it("finds parts, beginnings of words first, and letters in order last", () => {
  const all = [command("Follow live"), command("Before"), command("Fork from v4…"), command("Find our work")];
  expect(matching(all, "fo").map((one) => one.label)).toEqual(["Follow live", "Fork from v4…", "Before", "Find our work"]);
  expect(matching(all, "xyz")).toEqual([]);
});

it("offers commands only behind >", () => {
  const all = [command("Fork"), command("Fork session", "Sessions")];
  expect(matching(all, ">fork").map((one) => one.label)).toEqual(["Fork"]);
});

it("marks what matched", () => {
  expect(marked("Print layout", "lay")).toEqual(["Print ", "lay", "out"]);
  expect(marked("Print layout", "")).toEqual(["Print layout", "", ""]);
});
