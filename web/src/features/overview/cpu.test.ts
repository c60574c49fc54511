import { expect, test } from "vitest";
import { cpuPart } from "./cpu";

test("busy is what was used between two readings, as a part of the limit", () => {
  const readings = new Map();
  expect(cpuPart(readings, "a", 10, 2, 0)).toBeNull();
  expect(cpuPart(readings, "a", 14, 2, 4000)).toBe(0.5);
  expect(cpuPart(readings, "a", 15, 2, 4100)).toBe(0.5);
  expect(cpuPart(readings, "a", 1, 2, 8000)).toBeNull();
});
