/** Where the focus goes when whatever had it goes away: to the message, so that what is typed next is text and no command. */

const FIELD = "input, textarea, select, [contenteditable=true]";

/** How long a session that was asked for may take to show its message field. */
const LOAD_MS = 10_000;

/** Set while the message field of a session is about to appear. */
let awaited: string | null = null;

const composer = (sessionId?: string): HTMLElement | null =>
  document.querySelector<HTMLElement>(`section.chat${sessionId === undefined ? "" : `[data-session="${CSS.escape(sessionId)}"]`} #msg`);

/** Whether nothing in particular has the focus. */
export const focusIsLost = (): boolean => document.activeElement === null || document.activeElement === document.body;

/** Whether letters are text here. */
export const isField = (element: Element | null): boolean => element?.closest(FIELD) != null;

/** Whether a message field is about to take the focus: keys pressed meanwhile are meant for it. */
export const awaitsComposer = (): boolean => awaited !== null;

/** Focuses the message of the session in view; false when there is none. */
export function toComposer(): boolean {
  const field = composer();
  field?.focus();
  return field !== null;
}

/** Focuses the message of a session that is about to be shown, unless something else takes the focus first. */
export function awaitComposer(sessionId: string) {
  awaited = sessionId;
  const until = performance.now() + LOAD_MS;
  const look = () => {
    if (awaited !== sessionId) return;
    const field = composer(sessionId);
    if (field === null && performance.now() < until) return void requestAnimationFrame(look);
    awaited = null;
    if (field && (focusIsLost() || !isField(document.activeElement))) field.focus();
  };
  requestAnimationFrame(look);
}

/** Gives the focus back after an overlay: to the field it came from, else to the message, else to where it was. */
export function giveBack(from: Element | null) {
  const back = from instanceof HTMLElement && from.isConnected && from !== document.body ? from : null;
  if (back && isField(back)) back.focus();
  else if (!toComposer()) back?.focus();
}
