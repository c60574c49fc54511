import type { FileEntry, FileNews } from "@warren/react";
import { expect, test } from "vitest";
import { inOrder, markOf, touches } from "./tree";

const entry = (name: string, kind = "file") => ({ name, path: name, kind }) as FileEntry;

test("folders come first and what versions leave out comes last", () => {
  const rows = [entry("b.ts"), entry("node_modules", "directory"), entry("src", "directory"), entry("a10"), entry("a9")];
  expect(inOrder(rows).map((row) => row.name)).toEqual(["src", "a9", "a10", "b.ts", "node_modules"]);
});

test("a folder is marked when something inside it changed, not when its name begins like another", () => {
  const changes = new Map([["src/a/b.ts", { change: "created" } as FileNews]]);
  expect([touches(changes, "src"), touches(changes, "src/a"), touches(changes, "sr")]).toEqual([true, true, false]);
  expect([markOf(changes.get("src/a/b.ts")), markOf(undefined)]).toEqual(["A", null]);
});
