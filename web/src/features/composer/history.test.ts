import type { Block } from "@warren/react";
import { expect, it } from "vitest";
import { promptsOf, recalled } from "./history";

const said = (id: string, content: unknown) => ({ type: "user_message", id, timestamp: "2026-01-01T00:00:00Z", content }) as Block;

it("recalls prompts newest first and comes back to what was being written", () => {
  const prompts = promptsOf([said("a", "one"), said("b", "two"), said("c", "two"), said("d", [{ text: "three" }, { file: "x.csv" }]), said("e", [{ file: "y" }])]);
  expect(prompts).toEqual(["one", "two", "three"]);
  const first = recalled(prompts, null, 1);
  expect(first).toEqual({ at: 1, text: "three" });
  expect(recalled(prompts, 3, 1)).toEqual({ at: 3, text: null });
  expect(recalled(prompts, 2, -1)).toEqual({ at: 1, text: "three" });
  expect(recalled(prompts, 1, -1)).toEqual({ at: null, text: "" });
  expect(recalled(prompts, null, -1)).toEqual({ at: null, text: null });
});
