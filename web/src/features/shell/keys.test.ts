import { expect, it } from "vitest";
import { actionOf, type Stroke } from "./keys";

const stroke = (key: string, more: Partial<Stroke> = {}): Stroke => ({ key, ctrl: false, shift: false, alt: false, typing: false, modal: false, before: null, ...more });

it("knows the page's keys", () => {
  expect(actionOf(stroke("k", { ctrl: true, typing: true }), true)).toBe("palette");
  expect(actionOf(stroke("N", { shift: true }), true)).toBe("new");
  expect(actionOf(stroke("F", { shift: true }), true)).toBe("fork");
  expect(actionOf(stroke("v", { before: "g" }), true)).toBe("tab");
  expect(actionOf(stroke("?", { shift: true }), true)).toBe("help");
  expect(actionOf(stroke("3"), true)).toBe("choose");
});

it("leaves letters to those who type, to dialogs and to the browser", () => {
  expect(actionOf(stroke("a", { typing: true }), true)).toBeNull();
  expect(actionOf(stroke("a", { modal: true }), true)).toBeNull();
  expect(actionOf(stroke("s", { ctrl: true }), true)).toBeNull();
  expect(actionOf(stroke("f", { ctrl: true, typing: true }), true)).toBe("findHere");
});

it("acts on no single letter when they are switched off", () => {
  expect(actionOf(stroke("n"), false)).toBeNull();
  expect(actionOf(stroke("k", { ctrl: true }), false)).toBe("palette");
  expect(actionOf(stroke("End"), false)).toBe("end");
});

it("leads to a request by a stroke that no text contains", () => {
  expect(actionOf(stroke("a", { alt: true, code: "KeyA" }), false)).toBe("request");
  expect(actionOf(stroke("å", { alt: true, code: "KeyA" }), true)).toBe("request");
  expect(actionOf(stroke("a", { alt: true, code: "KeyA", typing: true }), true)).toBeNull();
  expect(actionOf(stroke("A", { shift: true, code: "KeyA" }), true)).toBe("allow");
});
