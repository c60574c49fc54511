// Facts about rows of the file tree. Pure.
import type { FileEntry, FileNews } from "@warren/react";

const NOT_KEPT = new Set(["node_modules", ".next", ".venv", "venv", "__pycache__", "target", ".cache", ".turbo", ".pytest_cache"]);

/** Folders that versions leave out by default: what can be fetched or built again. */
export const notKept = (name: string): boolean => NOT_KEPT.has(name);

/** Folders first, then files, each by name; what is not kept comes last. */
export function inOrder(entries: readonly FileEntry[]): FileEntry[] {
  const rank = (entry: FileEntry) => (entry.kind !== "directory" ? 1 : notKept(entry.name) ? 2 : 0);
  return [...entries].sort((a, b) => rank(a) - rank(b) || a.name.localeCompare(b.name, "en", { numeric: true }));
}

/** A letter for what became of a file since the latest version: added, modified, deleted or renamed. */
export const markOf = (change: (Pick<FileNews, "change"> & { movedFrom?: string | null }) | undefined): "A" | "M" | "D" | "R" | null =>
  change?.movedFrom ? "R" : change ? ({ created: "A", modified: "M", deleted: "D" } as const)[change.change] : null;

/** Whether something inside a folder changed. */
export function touches(changes: ReadonlyMap<string, unknown>, folder: string): boolean {
  for (const path of changes.keys()) if (path.startsWith(`${folder}/`)) return true;
  return false;
}
