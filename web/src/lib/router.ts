// Where the page is: a path and its query. Small on purpose; seven places need no library.
import { useSyncExternalStore } from "react";

export type Tab = "artifacts" | "files" | "versions" | "activity";

export type Route =
  | { at: "home" }
  | { at: "session"; sessionId: string; tab: Tab | null; subagent: string | null; version: number | null; artifact: string | null }
  | { at: "board" }
  | { at: "overview" }
  | { at: "doctor" }
  | { at: "settings" }
  | { at: "unknown"; path: string };

const TABS: readonly string[] = ["artifacts", "files", "versions", "activity"];

/** Reads an address. Pure, so that it can be tested. */
export function parse(path: string, search: string): Route {
  const [first, second, ...rest] = path.split("/").filter(Boolean);
  const query = new URLSearchParams(search);
  if (first === undefined) return { at: "home" };
  if (first === "board" && second === undefined) return { at: "board" };
  if (first === "overview" && second === undefined) return { at: "overview" };
  if (first === "doctor" && second === undefined) return { at: "doctor" };
  if (first === "settings" && second === undefined) return { at: "settings" };
  if (first === "sessions" && second !== undefined && rest.length === 0) {
    const tab = query.get("tab");
    return {
      at: "session",
      sessionId: decodeURIComponent(second),
      tab: tab !== null && TABS.includes(tab) ? (tab as Tab) : null,
      subagent: query.get("subagent"),
      version: /^\d{1,9}$/.test(query.get("version") ?? "") ? Number(query.get("version")) : null,
      artifact: query.get("artifact"),
    };
  }
  return { at: "unknown", path };
}

export const sessionPath = (sessionId: string, tab?: Tab | null): string =>
  `/sessions/${encodeURIComponent(sessionId)}${tab ? `?tab=${tab}` : ""}`;

/** The versions of a session with one of them chosen. */
export const versionPath = (sessionId: string, version: number): string => `${sessionPath(sessionId, "versions")}&version=${version}`;

/** The artifacts of a session with one of them chosen. */
export const artifactPath = (sessionId: string, artifact: string): string => `${sessionPath(sessionId, "artifacts")}&artifact=${encodeURIComponent(artifact)}`;

const watchers = new Set<() => void>();
const tell = () => watchers.forEach((watcher) => watcher());

export function navigate(to: string, how: "push" | "replace" = "push") {
  if (to === location.pathname + location.search) return;
  if (how === "push") history.pushState(null, "", to);
  else history.replaceState(null, "", to);
  tell();
}

function subscribe(watcher: () => void) {
  if (watchers.size === 0) addEventListener("popstate", tell);
  watchers.add(watcher);
  return () => {
    watchers.delete(watcher);
    if (watchers.size === 0) removeEventListener("popstate", tell);
  };
}

export function useRoute(): Route {
  const address = useSyncExternalStore(subscribe, () => location.pathname + location.search);
  const cut = address.indexOf("?");
  return cut < 0 ? parse(address, "") : parse(address.slice(0, cut), address.slice(cut));
}
