// What a person typed into files and did not save yet, by session and path. It survives another file, another tab of the
// panel, and a reload; it goes when it is saved or discarded.
import { useSyncExternalStore } from "react";

export interface Edit {
  text: string;
  /** What was edited: the text is saved over nothing else. */
  etag: string | null;
}

type Edits = ReadonlyMap<string, Edit>;

const NONE: Edits = new Map();
const PREFIX = "warren.edit.";
/** Long texts are not written down with every key. */
const SETTLED_MS = 400;

const sessions = new Map<string, Edits>();
const watchers = new Set<() => void>();
const pending = new Map<string, () => void>();
let timer: ReturnType<typeof setTimeout> | undefined;

/** The unsaved edits of a session, by path. */
export function editsOf(sessionId: string): Edits {
  const known = sessions.get(sessionId);
  if (known) return known;
  const read = readKept(sessionId);
  sessions.set(sessionId, read);
  return read;
}

export function keepEdit(sessionId: string, path: string, edit: Edit) {
  change(sessionId, (edits) => edits.set(path, edit));
  later(keyOf(sessionId, path), () => localStorage.setItem(keyOf(sessionId, path), JSON.stringify(edit)));
}

export function dropEdit(sessionId: string, path: string) {
  if (!editsOf(sessionId).has(path)) return;
  change(sessionId, (edits) => edits.delete(path));
  later(keyOf(sessionId, path), () => localStorage.removeItem(keyOf(sessionId, path)));
}

/** What was moved takes the edits of all that is in it along. */
export function moveEdits(sessionId: string, from: string, to: string) {
  for (const [path, edit] of editsOf(sessionId)) {
    if (path !== from && !path.startsWith(`${from}/`)) continue;
    dropEdit(sessionId, path);
    keepEdit(sessionId, to + path.slice(from.length), edit);
  }
}

/** What was removed needs no edits. */
export function dropEditsIn(sessionId: string, path: string) {
  for (const other of [...editsOf(sessionId).keys()]) if (other === path || other.startsWith(`${path}/`)) dropEdit(sessionId, other);
}

export function useEdits(sessionId: string): Edits {
  return useSyncExternalStore(watch, () => editsOf(sessionId));
}

/** Writes down at once what waits to be. */
export function settle() {
  clearTimeout(timer);
  timer = undefined;
  for (const [key, write] of pending) {
    try {
      write();
      pending.delete(key);
    } catch {
      // No storage, or a full one. It stays here for as long as the page is open; leaving it asks first.
    }
  }
}

const keyOf = (sessionId: string, path: string): string => `${PREFIX}${sessionId} ${path}`;

const watch = (watcher: () => void) => {
  watchers.add(watcher);
  return () => void watchers.delete(watcher);
};

function change(sessionId: string, how: (edits: Map<string, Edit>) => void) {
  const next = new Map(editsOf(sessionId));
  how(next);
  sessions.set(sessionId, next.size === 0 ? NONE : next);
  watchers.forEach((watcher) => watcher());
}

function later(key: string, write: () => void) {
  pending.set(key, write);
  clearTimeout(timer);
  timer = setTimeout(settle, SETTLED_MS);
}

function readKept(sessionId: string): Edits {
  const edits = new Map<string, Edit>();
  try {
    const prefix = keyOf(sessionId, "");
    for (let at = 0; at < localStorage.length; at++) {
      const key = localStorage.key(at);
      if (!key?.startsWith(prefix)) continue;
      const edit = JSON.parse(localStorage.getItem(key) ?? "null") as Edit | null;
      if (typeof edit?.text === "string") edits.set(key.slice(prefix.length), { text: edit.text, etag: edit.etag ?? null });
    }
  } catch {
    // A browser that keeps nothing has nothing to give back.
  }
  return edits.size === 0 ? NONE : edits;
}

if (typeof addEventListener === "function") {
  addEventListener("pagehide", settle);
  addEventListener("beforeunload", (event) => {
    settle();
    if (pending.size > 0) event.preventDefault();
  });
}
