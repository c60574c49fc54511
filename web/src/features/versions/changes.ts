// The files that differ between two versions, as a tree. Pure.
import type { FileDiff } from "@warren/react";

export type Row =
  | { kind: "folder"; path: string; name: string; depth: number; isOpen: boolean; files: number }
  | { kind: "file"; path: string; name: string; depth: number; file: FileDiff };

interface Folder {
  path: string;
  folders: Map<string, Folder>;
  files: { name: string; file: FileDiff }[];
}

export interface ChangeTree {
  root: Folder;
  /** All files in the order in which the tree shows them. */
  order: FileDiff[];
}

const byName = (a: string, b: string) => a.localeCompare(b, "en", { numeric: true });

/** A tree of those files whose path has all the words. Folders come first, each level by name. */
export function treeOf(files: readonly FileDiff[], words: string): ChangeTree {
  const wanted = words.toLowerCase().split(/\s+/).filter(Boolean);
  const root: Folder = { path: "", folders: new Map(), files: [] };
  const parents = foldersOf(files);
  for (const file of files) {
    // A folder is told of by what is in it.
    if (file.kind === "directory" && parents.has(file.path)) continue;
    const path = file.path.toLowerCase();
    if (!wanted.every((word) => path.includes(word))) continue;
    const names = namesOf(file.path);
    const name = names.pop() ?? file.path;
    let folder = root;
    for (const part of names) {
      const inner = folder.folders.get(part) ?? { path: folder.path === "" ? part : `${folder.path}/${part}`, folders: new Map(), files: [] };
      folder.folders.set(part, inner);
      folder = inner;
    }
    folder.files.push({ name, file });
  }
  const order: FileDiff[] = [];
  settle(root, order);
  return { root, order };
}

/** The rows of a tree, without what is in closed folders. A folder that has nothing but another one shares its row. */
export function rowsOf(tree: ChangeTree, closed: ReadonlySet<string>): Row[] {
  const rows: Row[] = [];
  const add = (folder: Folder, depth: number) => {
    for (const [part, first] of folder.folders) {
      let [name, inner] = [part, first];
      while (inner.files.length === 0 && inner.folders.size === 1) {
        const [only] = inner.folders;
        if (!only) break;
        name = `${name}/${only[0]}`;
        inner = only[1];
      }
      const isOpen = !closed.has(inner.path);
      rows.push({ kind: "folder", path: inner.path, name, depth, isOpen, files: countOf(inner) });
      if (isOpen) add(inner, depth + 1);
    }
    for (const { name, file } of folder.files) rows.push({ kind: "file", path: file.path, name, depth, file });
  };
  add(tree.root, 0);
  return rows;
}

/** The file so many steps away in the tree's order; the first, if there is none to start from. It stops at both ends. */
export function stepFrom(order: readonly FileDiff[], path: string | null, by: number): FileDiff | undefined {
  const at = order.findIndex((file) => file.path === path);
  if (at < 0) return order[0];
  return order[Math.max(0, Math.min(order.length - 1, at + by))];
}

/** The folders above a path, outermost first. */
export function foldersAbove(path: string): string[] {
  const names = namesOf(path);
  return names.slice(1).map((_, at) => names.slice(0, at + 1).join("/"));
}

export interface Totals {
  added: number;
  removed: number;
  /** Files whose lines are counted by now, or never will be. */
  known: number;
}

export function totalsOf(counts: Iterable<Pick<FileDiff, "added" | "removed">>): Totals {
  const totals = { added: 0, removed: 0, known: 0 };
  for (const { added = 0, removed = 0 } of counts) {
    totals.added += added;
    totals.removed += removed;
    totals.known += 1;
  }
  return totals;
}

/** An absolute path keeps its slash with its first name. */
function namesOf(path: string): string[] {
  const names = path.split("/");
  return names[0] === "" && names.length > 1 ? [`/${names[1]}`, ...names.slice(2)] : names;
}

function foldersOf(files: readonly FileDiff[]): Set<string> {
  const folders = new Set<string>();
  for (const { path } of files) {
    for (let at = path.lastIndexOf("/"); at > 0; at = path.lastIndexOf("/", at - 1)) {
      const folder = path.slice(0, at);
      if (folders.has(folder)) break;
      folders.add(folder);
    }
  }
  return folders;
}

function settle(folder: Folder, order: FileDiff[]) {
  folder.folders = new Map([...folder.folders].sort(([a], [b]) => byName(a, b)));
  folder.files.sort((a, b) => byName(a.name, b.name));
  for (const inner of folder.folders.values()) settle(inner, order);
  for (const { file } of folder.files) order.push(file);
}

function countOf(folder: Folder): number {
  let count = folder.files.length;
  for (const inner of folder.folders.values()) count += countOf(inner);
  return count;
}
