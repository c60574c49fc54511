// What any part of the page may ask the page to do.
import type { SessionListItem } from "@warren/react";
import { createContext, use, type RefObject } from "react";

export interface Page {
  openPalette: () => void;
  openKeys: () => void;
  startNew: (text?: string) => void;
  toggleDrawer: () => void;
  /** Says something to screen readers, when there is time for it; what is urgent is never left out. */
  announce: (sentence: string, how?: "urgent") => void;
  /** Sessions in the order in which the sidebar draws them. */
  order: RefObject<SessionListItem[]>;
  /** What the shown session offers to keys and the palette. */
  session: RefObject<SessionActions | null>;
}

/** What can be done with the session in view. */
export interface SessionActions {
  sessionId: string;
  name: string;
  version: number;
  running: boolean;
  followLive: () => void;
  /** Opens the search in the conversation. */
  find: () => void;
  exportAs: (form: "markdown" | "json") => void;
  /** Says that another Escape stops the run. */
  hintStop: () => void;
  stop: (() => void) | null;
  fork: (() => void) | null;
  rename: (() => void) | null;
  remove: (() => void) | null;
  showTab: (tab: "artifacts" | "files" | "versions" | "activity") => void;
  togglePanel: () => void;
  compare: () => void;
}

export const PageContext = createContext<Page | null>(null);

export function usePage(): Page {
  const page = use(PageContext);
  if (!page) throw new Error("this part belongs into the page");
  return page;
}
