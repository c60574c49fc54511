import { useState, useSyncExternalStore } from "react";
import { navigate, sessionPath, type Tab } from "~/lib/router";

const KEY = "warren.panel.open";
/** As narrow.css has it: from here down the panel lies over the conversation. */
const NARROW = "(max-width: 1180px)";

const watchNarrow = (watcher: () => void) => {
  const query = matchMedia(NARROW);
  query.addEventListener("change", watcher);
  return () => query.removeEventListener("change", watcher);
};

/**
 * Whether the panel is shown. Where there is room for it beside the conversation: as the person left it, and always when
 * the address asks for a tab. Where it lies over the conversation: exactly when the address asks for a tab, so that the
 * bar at the bottom, the browser's back button and a link all open and close it.
 */
export function usePanelOpen(sessionId: string, tab: Tab | null): [boolean, (open: boolean) => void] {
  const isNarrow = useSyncExternalStore(watchNarrow, () => matchMedia(NARROW).matches);
  const [kept, setKept] = useState(() => localStorage.getItem(KEY) !== "closed");
  const show = (next: boolean) => {
    if (isNarrow) {
      if (next !== (tab !== null)) navigate(sessionPath(sessionId, next ? "artifacts" : null));
      return;
    }
    localStorage.setItem(KEY, next ? "open" : "closed");
    setKept(next);
    if (!next && tab !== null) navigate(sessionPath(sessionId), "replace");
  };
  return [tab !== null || (!isNarrow && kept), show];
}
