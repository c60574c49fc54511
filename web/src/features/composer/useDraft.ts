// What a person wrote and did not send yet, by session. Text survives a reload; files only navigation, as a browser keeps none.
import { useSyncExternalStore } from "react";

export interface Upload {
  id: number;
  name: string;
  sizeBytes: number;
  /** `taken`: a file of its name is there, and a person has to say which one stays. */
  state: "uploading" | "done" | "failed" | "taken";
  path?: string;
  why?: string | undefined;
}

/** A message that was sent and is being changed. */
export interface Edited {
  /** The version before it, to which files and memory may return first. */
  baseVersion: number | null;
  restores: boolean;
}

export interface Draft {
  text: string;
  uploads: readonly Upload[];
  edited?: Edited | null;
}

/** The draft of the next session. */
export const NEW_SESSION = "new";

const EMPTY: Draft = { text: "", uploads: [] };
const PREFIX = "warren.draft.";
const drafts = new Map<string, Draft>();
const watchers = new Set<() => void>();

/** The draft of a session as it is now. */
export function draftOf(id: string): Draft {
  const known = drafts.get(id);
  if (known) return known;
  const text = kept(id);
  const draft = text ? { text, uploads: [] } : EMPTY;
  drafts.set(id, draft);
  return draft;
}

export function changeDraft(id: string, change: (draft: Draft) => Draft) {
  const next = change(draftOf(id));
  drafts.set(id, next.text === "" && next.uploads.length === 0 && !next.edited ? EMPTY : next);
  keep(id, next.text);
  watchers.forEach((watcher) => watcher());
}

function kept(id: string): string | null {
  try {
    return localStorage.getItem(PREFIX + id);
  } catch {
    // A browser that keeps nothing still has the draft until it is closed.
    return null;
  }
}

function keep(id: string, text: string) {
  try {
    if (text) localStorage.setItem(PREFIX + id, text);
    else localStorage.removeItem(PREFIX + id);
  } catch {
    // As above: no storage, or one that is full.
  }
}

const watch = (watcher: () => void) => {
  watchers.add(watcher);
  return () => void watchers.delete(watcher);
};

/** The draft of a session, and how to change it. */
export function useDraft(id: string): [Draft, (change: (draft: Draft) => Draft) => void] {
  const draft = useSyncExternalStore(watch, () => draftOf(id));
  return [draft, (change) => changeDraft(id, change)];
}
