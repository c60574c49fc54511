import { describe, expect, it } from "vitest";
import { faultOf, folderOf, nameOf, targetOf, within } from "./names";

const taken = new Set(["there.txt"]);

describe("names", () => {
  it("are taken as they are", () => {
    for (const name of ["a.txt", " padded ", ".env", "...", "ü b", "a\\b"]) expect(faultOf(name, { taken }), name).toBeNull();
    expect(faultOf("src/new/main.ts", { taken, deep: true })).toBeNull();
  });
  it("that cannot be are said to be so before anything is sent", () => {
    for (const name of ["", "  ", ".", "..", "a/b", "/a", "a/", "there.txt", "a\nb", "ü".repeat(128)]) expect(faultOf(name, { taken }), JSON.stringify(name)).not.toBeNull();
    for (const name of ["../a", "a//b", "a/./b", "/a", "a/"]) expect(faultOf(name, { taken, deep: true }), name).not.toBeNull();
  });
});

describe("paths", () => {
  it("come apart and together", () => {
    expect([folderOf("a/b/c"), folderOf("c"), folderOf("/user-input/x"), nameOf("a/b/c"), nameOf("c"), within("", "a"), within("a/b", "c")]).toEqual(["a/b", "", "/user-input", "c", "c", "a", "a/b/c"]);
  });
  it("say where something goes that is moved into a folder, if it can go there", () => {
    expect([targetOf("a/b.txt", "c"), targetOf("a/b.txt", ""), targetOf("/user-input/x/a", "/user-input")]).toEqual(["c/b.txt", "b.txt", "/user-input/a"]);
    for (const [from, folder] of [["a/b.txt", "a"], ["a", "a"], ["a", "a/b"], ["b.txt", ""], ["a.txt", "/user-input"], ["/user-input/a", "docs"]] as const) expect(targetOf(from, folder), `${from} → ${folder}`).toBeNull();
    expect(targetOf("a", "ab")).toBe("ab/a");
  });
});
