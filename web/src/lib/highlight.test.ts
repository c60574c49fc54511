import { expect, it } from "vitest";
import { between, byLine, languageOf, load } from "./highlight";

const coloured = async (text: string, language: string) => (await load(language))(text).filter((piece) => piece.className).map((piece) => [piece.className, piece.text]);

it("colours keywords, calls, strings, numbers and comments", async () => {
  expect(await coloured('const at = local(row, "x", 10); // why', "ts")).toEqual([
    ["hl-k", "const"], ["hl-f", "local"], ["hl-s", '"x"'], ["hl-n", "10"], ["hl-c", "// why"],
  ]);
});

it("colours a style sheet inside HTML, and no number inside its text", async () => {
  const seen = await coloured("<style>a { color: #1b1f2a }</style><h1>Sales 2025</h1>", "html");
  expect(seen).toContainEqual(["hl-n", "#1b1f2a"]);
  expect(seen.map(([, text]) => text)).not.toContain("2025");
});

it("colours added and removed lines of a diff", async () => {
  expect(await coloured("-old\n+new\n", "diff")).toEqual([["hl-d", "-old"], ["hl-i", "+new"]]);
});

it("keeps every character, also of broken code and unknown languages", async () => {
  for (const [text, language] of [["'open\n\"\"\"x", "py"], ["/* open", "rs"], ["<a href='x", "html"], ["what?", "klingon"], ["`${a", "js"]] as const) {
    expect((await load(language))(text).map((piece) => piece.text).join("")).toBe(text);
  }
});

it("knows a language by the file's name", () => {
  expect([languageOf("src/a.tsx"), languageOf("Dockerfile"), languageOf("a/notes.TXT")]).toEqual(["tsx", "Dockerfile", "txt"]);
});

it("cuts pieces into lines, and lines into parts", () => {
  const lines = byLine([{ text: "a\nb", className: "x" }, { text: "c\n", className: "" }]);
  expect(lines).toEqual([[{ text: "a", className: "x" }], [{ text: "b", className: "x" }, { text: "c", className: "" }], []]);
  expect(between(lines[1]!, 1, 9)).toEqual([{ text: "c", className: "" }]);
});
