import { expect, it } from "vitest";
import { exactly, pieces, visible } from "./ansi";

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

it("shows every character of what is agreed to, whether it draws anything or not", () => {
  expect(exactly("ls\r\n\u202etxt\u2066.sh\u00ad\u2028\u{e0041}\u3164\u061c\u200b")).toBe("ls^M\n⟨202E⟩txt⟨2066⟩.sh⟨00AD⟩⟨2028⟩⟨E0041⟩⟨3164⟩⟨061C⟩⟨200B⟩");
  expect(exactly("git commit -m 'größer'\n\tnext")).toBe("git commit -m 'größer'\n\tnext");
});
