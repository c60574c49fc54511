import { expect, test } from "vitest";
import { changed } from "./colour";

test("a colour gets lighter and darker, and keeps its hue", () => {
  const check = (how: string, part: number, expected: string) => expect(changed("#4472c4", how, part)).toBe(expected);
  check("lumMod", 0.5, "#203864");
  check("lumMod", 1, "#4472c4");
  check("lumOff", 1, "#ffffff");
  check("shade", 0, "#000000");
  check("tint", 0, "#ffffff");
  check("alpha", 0.5, "#4472c480");
  check("satMod", 0.5, "#4472c4");
  expect(changed("#000000", "lumOff", 0.5)).toBe("#808080");
});
