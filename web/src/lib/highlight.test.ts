import { expect, it } from "vitest";
import { highlight, languageOf } from "./highlight";

it("colours keywords, calls, strings, numbers and comments", () => {
  const seen = highlight('const at = local(row, "x", 10); // why', "ts").filter((piece) => piece.className);
  expect(seen.map((piece) => [piece.className, piece.text])).toEqual([
    ["hl-k", "const"], ["hl-f", "local"], ["hl-s", '"x"'], ["hl-n", "10"], ["hl-c", "// why"],
  ]);
});

it("gives back every character, also of broken code and unknown languages", () => {
  for (const [text, language] of [["'open\n\"\"\"x", "py"], ["/* open", "rs"], ["<a href='x", "html"], ["what?", "klingon"], ["`${a", "js"]] as const) {
    expect(highlight(text, language).map((piece) => piece.text).join("")).toBe(text);
  }
});

it("knows a language by the file's name", () => {
  expect([languageOf("src/a.tsx"), languageOf("Dockerfile"), languageOf("notes")]).toEqual(["tsx", "dockerfile", ""]);
});
