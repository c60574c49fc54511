import { expect, test } from "vitest";
import { readable } from "./readable";

test("bullets of symbol fonts become characters that every font has", () => {
  expect(readable('p:before { content: "\\f0b7\\9"; font-family: Symbol; }')).toBe('p:before { content: "\\2022\\9"; font-family: inherit; }');
  expect(readable('p:before { content: "\uf0a7"; font-family: "Wingdings"; }')).toBe('p:before { content: "▪"; font-family: inherit; }');
});

test("unknown sign becomes a plain bullet, and other fonts stay", () => {
  expect(readable('a { content: "\uf0ff"; font-family: Calibri; }')).toBe('a { content: "•"; font-family: Calibri; }');
});
