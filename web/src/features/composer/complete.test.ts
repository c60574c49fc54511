import { expect, it } from "vitest";
import { ranked, replaced, splitPath, tokenAt } from "./complete";

const token = (text: string) => tokenAt(text, text.length);

it("completes a file after an @ that begins a word, and a command at the very start", () => {
  expect(token("look at @src/ma")).toEqual({ kind: "file", query: "src/ma", from: 8, to: 15 });
  expect(token("@")).toEqual({ kind: "file", query: "", from: 0, to: 1 });
  expect(token("/ex")).toEqual({ kind: "command", query: "ex", from: 0, to: 3 });
  expect(token("mail me@example.com")).toBeNull();
  expect(token("and /ex")).toBeNull();
  expect(token("/export now")).toBeNull();
  expect(tokenAt("@src tail", 4)).toEqual({ kind: "file", query: "src", from: 0, to: 4 });
});

it("puts the choice in place and leaves the caret behind it", () => {
  expect(replaced("see @ma now", { kind: "file", query: "ma", from: 4, to: 7 }, "main.rs", false)).toEqual({ text: "see @main.rs now", caret: 12 });
  expect(replaced("@s", { kind: "file", query: "s", from: 0, to: 2 }, "src/", true)).toEqual({ text: "@src/", caret: 5 });
  expect(replaced("/re", { kind: "command", query: "re", from: 0, to: 3 }, "review", false)).toEqual({ text: "/review ", caret: 8 });
});

it("ranks names that begin with the query first", () => {
  const all = ["domain.rs", "main.rs", "readme"].map((label) => ({ id: label, label }));
  expect(ranked(all, "ma").map((one) => one.label)).toEqual(["main.rs", "domain.rs"]);
  expect(splitPath("a/b/c")).toEqual({ folder: "a/b", name: "c" });
  expect(splitPath("c")).toEqual({ folder: "", name: "c" });
});
