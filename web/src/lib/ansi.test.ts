import { expect, it } from "vitest";
import { pieces, visible } from "./ansi";

it("maps colours to classes", () => {
  expect(pieces("a\u001b[31mb\u001b[1mc\u001b[0md")).toEqual([
    { text: "a", className: "" },
    { text: "b", className: "e" },
    { text: "c", className: "e hi" },
    { text: "d", className: "" },
  ]);
});

it("shows control characters instead of obeying them", () => {
  expect(visible("safe\rrm -rf\u001b]0;x\u0007 \u202egnp")).toBe("safe^Mrm -rf^[]0;x^G ⟨202E⟩gnp");
  expect(visible("a\tb\nc\r\nd")).toBe("a\tb\nc\nd");
});
