import type { FileListing, WarrenClient } from "@warren/react";
import { expect, it } from "vitest";
import { uploadsLost } from "./uploadsOf";

/** A client whose folders are these, now and in a version; a path that ends with a slash is a folder. */
function clientOf(now: Record<string, string[]>, then: Record<string, string[]>): WarrenClient {
  const list = (folders: Record<string, string[]>, path: string): FileListing => ({
    path,
    entries: (folders[path] ?? []).map((name) => ({ name: name.replace("/", ""), path: `${path}/${name.replace("/", "")}`, kind: name.endsWith("/") ? "directory" : "file", sizeBytes: 1, mode: 420, modifiedAt: "" })),
  });
  return {
    files: async (_session: string, path: string) => list(now, path),
    versionFiles: async (_session: string, _version: number, path: string) => list(then, path),
  } as unknown as WarrenClient;
}

it("lists uploads that a version does not have, in folders too", async () => {
  const now = { "/user-input": ["kept.csv", "new.csv", "set/"], "/user-input/set": ["a.png", "b.png"] };
  const then = { "/user-input": ["kept.csv", "removed.csv", "set/"], "/user-input/set": ["a.png"] };
  expect(await uploadsLost(clientOf(now, then), "s", 1)).toEqual(["new.csv", "set/b.png"]);
});

it("loses nothing where there are no uploads", async () => {
  expect(await uploadsLost(clientOf({}, { "/user-input": ["old.csv"] }), "s", 1)).toEqual([]);
});
