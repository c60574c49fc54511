import { useEffect, useRef } from "react";
import { awaitsComposer } from "~/lib/focus";
import { dismissToasts } from "~/ui/toasts";
import { navigate, sessionPath, useRoute, type Tab } from "~/lib/router";
import { focusCard } from "../approvals/useArming";
import { actionOf, TABS, type KeyAction } from "./keys";
import { lettersAct } from "./letters";
import { STOP_HINT_MS } from "../chat/useStopHint";
import type { Page } from "./page";

/** Before any time stamp: 0 is the page's load, and an Escape soon after that would count as the second. */
const NEVER = -Infinity;

/** Listens to the page's keys. */
export function useKeys(page: Page) {
  const route = useRoute();
  const before = useRef<string | null>(null);
  const escaped = useRef(NEVER);
  // An effect: the keys are the document's.
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      if (event.defaultPrevented || event.isComposing) return;
      const at = event.target instanceof Element ? event.target : document.body;
      const typing = at.closest("input, textarea, select, [contenteditable=true]") !== null;
      const modal = document.querySelector("dialog[open]") !== null;
      if (event.key === "Escape" && !modal) return void escape(event, page, escaped);
      const stroke = { key: event.key, code: event.code, ctrl: event.ctrlKey || event.metaKey, shift: event.shiftKey, alt: event.altKey, typing: typing || awaitsComposer(), modal, before: before.current };
      before.current = typing || modal ? null : event.key.toLowerCase();
      const action = actionOf(stroke, lettersAct());
      if (action && act(action, event, page, route.at === "session" ? route.sessionId : null)) {
        event.preventDefault();
        before.current = null;
      }
    };
    addEventListener("keydown", onKeyDown);
    return () => removeEventListener("keydown", onKeyDown);
  }, [page, route]);
}

/** Takes news away. While a run is in progress the first Escape only says what the second does, and moves no focus. */
function escape(event: KeyboardEvent, page: Page, escaped: React.RefObject<number>) {
  dismissToasts();
  const session = page.session.current;
  if (session?.stop) {
    const twice = event.timeStamp - escaped.current < STOP_HINT_MS;
    escaped.current = twice ? NEVER : event.timeStamp;
    if (twice) return session.stop();
    session.hintStop();
    page.announce("Press Escape again to stop the run.");
    return;
  }
  // Out of the message, to where single letters act.
  if (event.target instanceof Element && event.target.id === "msg") document.querySelector<HTMLElement>("section.chat .scroll")?.focus();
}

function act(action: KeyAction, event: KeyboardEvent, page: Page, current: string | null): boolean {
  const session = page.session.current;
  switch (action) {
    case "palette":
      page.openPalette();
      return true;
    case "find":
      return focus("#find");
    case "findHere":
      session?.find();
      document.querySelector<HTMLInputElement>("#find-in")?.focus();
      return session !== null;
    case "new":
      page.startNew();
      return true;
    case "help":
      page.openKeys();
      return true;
    case "previous":
    case "next":
      return step(page, current, action === "next" ? 1 : -1);
    case "blockNext":
    case "blockPrevious":
      return stepBlock(action === "blockNext" ? 1 : -1);
    case "toggle": {
      const row = document.activeElement?.closest("[data-key]");
      const summary = row?.querySelector<HTMLElement>("summary");
      summary?.click();
      return summary !== undefined;
    }
    case "end":
      session?.followLive();
      return session !== null;
    case "panel":
      session?.togglePanel();
      return session !== null;
    case "fork":
      session?.fork?.();
      return session !== null;
    case "compare":
      session?.compare();
      return session !== null;
    case "full":
      return press(document.querySelector<HTMLElement>("[data-key-full]"));
    case "tab":
      return session !== null && showTab(session, TABS[event.key.toLowerCase() as keyof typeof TABS]);
    case "request":
      return toRequest(session);
    case "allow":
    case "deny":
    case "choose":
      return !event.repeat && answer(action === "choose" ? event.key : action[0]!);
  }
}

/** Opens a tab of the panel; who came by keys goes on there by keys. */
function showTab(session: NonNullable<Page["session"]["current"]>, tab: Tab): boolean {
  session.showTab(tab);
  // The panel may only be loaded now.
  const until = performance.now() + 5_000;
  const look = () => {
    const found = document.getElementById(`tab-${tab}`);
    if (found) found.focus();
    else if (performance.now() < until) requestAnimationFrame(look);
  };
  requestAnimationFrame(look);
  return true;
}

function focus(selector: string): boolean {
  document.querySelector<HTMLElement>(selector)?.focus();
  return true;
}

function press(element: HTMLElement | null | undefined): boolean {
  element?.click();
  return !!element;
}

/**
 * Answers the request that has the focus, and no other: letters are typed by people who look elsewhere. On a button a letter
 * does what that button does or nothing: with the focus on Deny, A must not allow.
 */
export function answer(key: string): boolean {
  const focused = document.activeElement;
  const card = focused?.closest<HTMLElement>("[data-approval]");
  const button = focused?.closest("button");
  if (button && /^[ad]$/.test(key) && button.dataset.key !== key) return false;
  return press(card?.querySelector<HTMLButtonElement>(`[data-key="${key}"]:not(:disabled, [aria-disabled=true])`));
}

/** Focuses the next open request, scrolling to it where it is not drawn. */
function toRequest(session: Page["session"]["current"]): boolean {
  const next = () => {
    const open = [...document.querySelectorAll<HTMLElement>("[data-approval]")];
    const at = open.findIndex((card) => card.contains(document.activeElement));
    return open[(at + 1) % open.length];
  };
  const found = next();
  if (found) focusCard(found);
  else {
    session?.followLive();
    requestAnimationFrame(() => requestAnimationFrame(() => {
      const card = next();
      if (card) focusCard(card);
    }));
  }
  return session !== null;
}

function step(page: Page, current: string | null, by: number): boolean {
  const order = page.order.current;
  const at = order.findIndex((session) => session.sessionId === current);
  const next = order[at < 0 ? 0 : at + by];
  if (next) navigate(sessionPath(next.sessionId));
  return next !== undefined;
}

function stepBlock(by: number): boolean {
  const rows = [...document.querySelectorAll<HTMLElement>("[role=log] [data-key][data-kind]")];
  const focused = document.activeElement?.closest<HTMLElement>("[data-kind]");
  const visible = rows.findIndex((row) => row.getBoundingClientRect().bottom > 60);
  const at = focused ? rows.indexOf(focused) + by : visible;
  const row = rows[Math.max(0, Math.min(rows.length - 1, at))];
  row?.focus();
  row?.scrollIntoView({ block: "nearest" });
  return row !== undefined;
}
