// Where a person was in a session's files: which file is open, and which folders. Kept for as long as the browser's tab.
import { useSyncExternalStore } from "react";

export interface Place {
  chosen: string | null;
  open: ReadonlySet<string>;
}

const PREFIX = "warren.files.";
const USUAL: Place = { chosen: null, open: new Set(["outputs", "src"]) };
const places = new Map<string, Place>();
const watchers = new Set<() => void>();

export function placeOf(sessionId: string): Place {
  const known = places.get(sessionId);
  if (known) return known;
  const place = read(sessionId) ?? USUAL;
  places.set(sessionId, place);
  return place;
}

export function changePlace(sessionId: string, change: (place: Place) => Partial<Place>) {
  const old = placeOf(sessionId);
  const next = { ...old, ...change(old) };
  places.set(sessionId, next);
  try {
    sessionStorage.setItem(PREFIX + sessionId, JSON.stringify({ chosen: next.chosen, open: [...next.open].slice(-500) }));
  } catch {
    // Not kept over a reload then.
  }
  watchers.forEach((watcher) => watcher());
}

export function usePlace(sessionId: string): Place {
  return useSyncExternalStore(watch, () => placeOf(sessionId));
}

/** The same place after something was moved; what was removed is nowhere. Pure. */
export function movedPlace({ chosen, open }: Place, from: string, to: string | null): Place {
  const isIn = (path: string) => path === from || path.startsWith(`${from}/`);
  const moved = (path: string) => (to === null ? null : to + path.slice(from.length));
  return {
    chosen: chosen !== null && isIn(chosen) ? moved(chosen) : chosen,
    open: new Set([...open].flatMap((path) => (isIn(path) ? (moved(path) ?? []) : path))),
  };
}

const watch = (watcher: () => void) => {
  watchers.add(watcher);
  return () => void watchers.delete(watcher);
};

function read(sessionId: string): Place | null {
  try {
    const kept = JSON.parse(sessionStorage.getItem(PREFIX + sessionId) ?? "null") as { chosen?: unknown; open?: unknown } | null;
    if (kept === null) return null;
    return {
      chosen: typeof kept.chosen === "string" ? kept.chosen : null,
      open: new Set(Array.isArray(kept.open) ? kept.open.filter((path): path is string => typeof path === "string") : []),
    };
  } catch {
    return null;
  }
}
