import type { FileDiff } from "@warren/react";
import { expect, it } from "vitest";
import { explain, modeChange } from "./explain";

const file = (more: Partial<FileDiff>): FileDiff => ({ path: "a", change: "changed", kind: "file", binary: false, ...more });
const look = (hash: string, mode = 0o644, sizeBytes = 3) => ({ hash, mode, sizeBytes });

it("says why a file has no lines", () => {
  expect(explain(file({ binary: true, before: look("x", 0o644, 3), after: look("y", 0o644, 2000) }))).toEqual({ title: "Binary file changed", text: "It is not text, so there are no lines to compare. 3 B before, 2 KB after." });
  expect(explain(file({ before: look("x"), after: look("x", 0o755) }))).toEqual({ title: "Only permissions changed", text: "Mode 644 → 755. The content is the same." });
  expect(explain(file({ change: "added", after: look("e", 0o644, 0) })).title).toBe("Empty file added");
  expect(explain(file({ change: "removed", kind: "directory", before: look("d", 0o755, 0) })).title).toBe("Folder removed");
  expect(explain(file({ truncated: true, before: look("x"), after: look("y", 0o644, 900_000) })).title).toBe("Too large to compare");
});

it("tells of permissions only where both sides have them", () => {
  expect([modeChange(file({ before: look("x"), after: look("y", 0o755) })), modeChange(file({ before: look("x"), after: look("y") })), modeChange(file({ after: look("y") }))]).toEqual(["644 → 755", null, null]);
});
