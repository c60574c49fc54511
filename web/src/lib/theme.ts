// The theme: what the person chose, else what their system says.
import { useSyncExternalStore } from "react";

export type Theme = "light" | "dark";

const watchers = new Set<() => void>();

export const theme = (): Theme => (document.documentElement.dataset.theme === "dark" ? "dark" : "light");

export function setTheme(next: Theme) {
  document.documentElement.dataset.theme = next;
  try {
    localStorage.setItem("warren.theme", next);
  } catch {
    // A browser that keeps nothing still changes the page now.
  }
  watchers.forEach((watcher) => watcher());
}

export const useTheme = (): Theme =>
  useSyncExternalStore((watcher) => {
    watchers.add(watcher);
    return () => watchers.delete(watcher);
  }, theme);
