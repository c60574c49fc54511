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

/** What a person chose; `system`: as their system has it. */
export type ThemeChoice = Theme | "system";

const systemIsDark = () => matchMedia("(prefers-color-scheme: dark)").matches;

function choice(): ThemeChoice {
  try {
    const kept = localStorage.getItem("warren.theme");
    return kept === "dark" || kept === "light" ? kept : "system";
  } catch {
    return theme();
  }
}

export function setThemeChoice(next: ThemeChoice) {
  if (next !== "system") return setTheme(next);
  try {
    localStorage.removeItem("warren.theme");
  } catch {
    // A browser that keeps nothing follows its system anyway.
  }
  document.documentElement.dataset.theme = systemIsDark() ? "dark" : "light";
  watchers.forEach((watcher) => watcher());
}

/** Follows the system for as long as nothing else was chosen. */
function watch(watcher: () => void) {
  const system = matchMedia("(prefers-color-scheme: dark)");
  const follow = () => choice() === "system" && setThemeChoice("system");
  watchers.add(watcher);
  system.addEventListener("change", follow);
  return () => {
    watchers.delete(watcher);
    system.removeEventListener("change", follow);
  };
}

export const useThemeChoice = (): ThemeChoice => useSyncExternalStore(watch, choice);

export const useTheme = (): Theme =>
  useSyncExternalStore(watch, theme);
