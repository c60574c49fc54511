// One timer for everything that counts seconds; it stands still while nobody looks.
import { useSyncExternalStore } from "react";

const watchers = new Set<() => void>();
let timer: ReturnType<typeof setInterval> | undefined;
let now = Date.now();

function tick() {
  if (document.hidden) return;
  now = Date.now();
  watchers.forEach((watcher) => watcher());
}

function subscribe(watcher: () => void) {
  if (watchers.size === 0) {
    now = Date.now();
    timer = setInterval(tick, 1000);
  }
  watchers.add(watcher);
  return () => {
    watchers.delete(watcher);
    if (watchers.size === 0) clearInterval(timer);
  };
}

const still = () => () => {};

/** The time in milliseconds, anew every second while `counts`. */
export function useNow(counts = true): number {
  return useSyncExternalStore(counts ? subscribe : still, () => now);
}
