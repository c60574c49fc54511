import { afterEach, describe, expect, it, vi } from "vitest";
import { dropEdit, dropEditsIn, editsOf, keepEdit, moveEdits, settle } from "./edits";
import { movedPlace } from "./place";

const paths = (session: string) => [...editsOf(session).keys()].sort();

afterEach(() => {
  settle();
  localStorage.clear();
});

describe("unsaved edits", () => {
  it("are kept by session and file until they are saved or discarded, also over a reload", async () => {
    keepEdit("one", "a.txt", { text: "typed", etag: "1" });
    keepEdit("one", "a.txt", { text: "typed more", etag: "1" });
    keepEdit("other", "a.txt", { text: "else", etag: null });
    settle();
    vi.resetModules();
    const again = await import("./edits");
    expect([...again.editsOf("one")]).toEqual([["a.txt", { text: "typed more", etag: "1" }]]);
    again.dropEdit("one", "a.txt");
    again.settle();
    vi.resetModules();
    const later = await import("./edits");
    expect([later.editsOf("one").size, later.editsOf("other").size]).toEqual([0, 1]);
  });
  it("follow what is moved, and go with what is removed", () => {
    for (const path of ["a/x", "a/b/y", "ab", "c"]) keepEdit("s", path, { text: path, etag: null });
    moveEdits("s", "a", "z/a");
    expect(paths("s")).toEqual(["ab", "c", "z/a/b/y", "z/a/x"]);
    dropEditsIn("s", "z");
    dropEdit("s", "none");
    expect(paths("s")).toEqual(["ab", "c"]);
  });
  it("stay in the page where a browser keeps nothing, which asks before it is left", () => {
    vi.stubGlobal("localStorage", { length: 0, setItem: () => { throw new Error("full"); }, removeItem: () => {} });
    keepEdit("full", "a", { text: "x", etag: null });
    const leaving = new Event("beforeunload", { cancelable: true });
    dispatchEvent(leaving);
    expect([leaving.defaultPrevented, editsOf("full").get("a")?.text]).toEqual([true, "x"]);
    dropEdit("full", "a");
    settle();
    vi.unstubAllGlobals();
  });
});

describe("the place in the files", () => {
  it("moves with what is moved, and is nowhere when it is removed", () => {
    const place = { chosen: "a/b/c.txt", open: new Set(["a", "a/b", "ab"]) };
    expect(movedPlace(place, "a", "z")).toEqual({ chosen: "z/b/c.txt", open: new Set(["z", "z/b", "ab"]) });
    expect(movedPlace(place, "a/b", null)).toEqual({ chosen: null, open: new Set(["a", "ab"]) });
    expect(movedPlace(place, "ab", "x").chosen).toBe("a/b/c.txt");
  });
});
