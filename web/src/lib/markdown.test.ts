import { describe, expect, it } from "vitest";
import { chunksOf, inline, parse } from "./markdown";

const text = (t: string) => ({ t: "text" as const, text: t });

describe("markdown", () => {
  it("reads headings, lists, fences, quotes and tables", () => {
    const read = parse("# One\n\n- a\n- [x] b\n  - c\n\n1. d\n\n```ts\nlet x;\n```\n\n> q\n\n| a | b |\n|---|--:|\n| 1 | 2 |\n\n---");
    expect(read.map((block) => block.t)).toEqual(["h", "list", "list", "code", "quote", "table", "hr"]);
    expect(read[1]).toEqual({
      t: "list",
      start: null,
      items: [
        { task: null, c: [{ t: "p", c: [text("a")] }] },
        { task: true, c: [{ t: "p", c: [text("b")] }, { t: "list", start: null, items: [{ task: null, c: [{ t: "p", c: [text("c")] }] }] }] },
      ],
    });
    expect(read[3]).toEqual({ t: "code", lang: "ts", text: "let x;", open: false });
  });

  it("leaves HTML and script addresses as text", () => {
    expect(inline("<script>alert(1)</script>")).toEqual([text("<script>alert(1)</script>")]);
    expect(inline("[x](javascript:alert(1))")).toEqual([text("[x](javascript:alert(1))")]);
    expect(inline("![x](https://a.example/p.png)")).toEqual([{ t: "link", href: "https://a.example/p.png", c: [text("x")] }]);
  });

  it("reads marks inside a line, and not those inside words", () => {
    expect(inline("a **b** `c*d*` _e_ snake_case_name 2 * 3 * 4")).toEqual([
      text("a "),
      { t: "strong", c: [text("b")] },
      text(" "),
      { t: "code", text: "c*d*" },
      text(" "),
      { t: "em", c: [text("e")] },
      text(" snake_case_name 2 * 3 * 4"),
    ]);
  });

  it("says that a fence is still open", () => {
    expect(parse("```\nabc")).toEqual([{ t: "code", lang: "", text: "abc", open: true }]);
  });

  it("cuts a growing text so that earlier parts stay as they are", () => {
    const whole = "One\n\n```\na\n\nb\n```\n\n- x\n\n- y\n\nEnd";
    expect(chunksOf(whole)).toEqual(["One\n\n", "```\na\n\nb\n```\n\n", "- x\n\n- y\n\n", "End"]);
    for (let n = 1; n < whole.length; n++) {
      const settled = chunksOf(whole.slice(0, n)).slice(0, -1);
      expect(chunksOf(whole).slice(0, settled.length)).toEqual(settled);
    }
  });

  it("does not exhaust the stack on a text that nests without end", () => {
    expect(() => parse(">".repeat(5000) + "- ".repeat(5000))).not.toThrow();
    expect(() => inline("**".repeat(2000) + "[".repeat(2000))).not.toThrow();
  });
});
