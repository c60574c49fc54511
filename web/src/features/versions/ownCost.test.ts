import type { Version } from "@warren/react";
import { expect, test } from "vitest";
import { ownCost } from "./ownCost";

const version = (number: number, base: number, costUSD: number) => ({ version: number, base, costUSD }) as Version;

test("a version's cost is what was spent since the one it follows", () => {
  const all = [version(3, 2, 0.25), version(2, 1, 0.25), version(1, 0, 0.125)];
  expect(all.map((one) => ownCost(one, all))).toEqual([0, 0.125, 0.125]);
});

test("a version whose base is not listed yet has no cost of its own to show", () => {
  const all = [version(9, 8, 2)];
  expect(all.map((one) => ownCost(one, all))).toEqual([undefined]);
});
