import { useCallback, useEffect, useLayoutEffect, useRef, useState, type KeyboardEvent, type MouseEvent, type PointerEvent } from "react";
import { focusIsLost, giveBack, isField } from "~/lib/focus";

/** A request cannot be answered for this long after it appears or moves under the pointer. */
export const ARM_MS = 1000;

/** Requests on the page. Each disarms the others when it comes or goes, because that moves them. */
const cards = new Set<() => void>();

let pointer: { x: number; y: number } | null = null;
let watched = false;

/** Follows the pointer, to tell one that moved from one under which the page moved. */
function watchPointer() {
  if (watched) return;
  watched = true;
  const note = (event: globalThis.PointerEvent) => (pointer = { x: event.clientX, y: event.clientY });
  for (const kind of ["pointermove", "pointerdown"] as const) addEventListener(kind, note, { capture: true, passive: true });
}

let cameFrom: Element | null = null;

/** Moves the focus to a request, and back when it is answered. */
export function focusCard(card: HTMLElement) {
  const from = document.activeElement;
  if (from?.closest("[data-approval]") == null) cameFrom = from;
  card.focus();
  card.scrollIntoView({ block: "nearest" });
}

/**
 * Keeps an answer from being given by accident. Buttons with `data-answers` act only when they are armed at the moment they
 * are pressed: by a pointer that went down on that button, or by a key that is not held. Spread `guard` on the card.
 */
export function useArming(active: boolean) {
  const [armed, setArmed] = useState(false);
  const now = useRef(false);
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  const pressed = useRef<Element | null>(null);
  const refused = useRef(false);
  const focused = useRef(false);

  const set = (to: boolean) => {
    now.current = to;
    setArmed(to);
  };
  const disarm = useCallback(() => {
    clearTimeout(timer.current);
    set(false);
    pressed.current = null;
    timer.current = setTimeout(() => set(true), ARM_MS);
  }, []);

  useLayoutEffect(() => {
    if (!active) return undefined;
    watchPointer();
    const others = () => cards.forEach((card) => card !== disarm && card());
    const onVisible = () => document.visibilityState === "visible" && disarm();
    disarm();
    others();
    cards.add(disarm);
    document.addEventListener("visibilitychange", onVisible);
    return () => {
      clearTimeout(timer.current);
      set(false);
      cards.delete(disarm);
      others();
      document.removeEventListener("visibilitychange", onVisible);
    };
  }, [active, disarm]);

  // A card that goes away with the focus gives it back.
  useEffect(() => {
    if (!active) return undefined;
    return () => {
      if (focused.current && focusIsLost()) {
        giveBackTo(cameFrom);
        cameFrom = null;
      }
      focused.current = false;
    };
  }, [active]);

  const guard = {
    onFocusCapture: () => void (focused.current = true),
    onBlurCapture: (event: React.FocusEvent) => {
      if (event.relatedTarget instanceof Node && !event.currentTarget.contains(event.relatedTarget)) focused.current = false;
    },
    onPointerOverCapture: (event: PointerEvent) => {
      const still = event.pointerType === "mouse" && pointer?.x === event.clientX && pointer.y === event.clientY;
      if (still && buttonOf(event.target)) disarm();
    },
    onPointerDownCapture: (event: PointerEvent) => {
      refused.current = false;
      pressed.current = now.current ? buttonOf(event.target) : null;
    },
    onKeyDownCapture: (event: KeyboardEvent) => {
      if (event.key !== "Enter" && event.key !== " ") return;
      const button = buttonOf(event.target);
      if (!button && !(event.key === "Enter" && isField(event.target as Element))) return;
      refused.current = event.repeat || !now.current;
      if (refused.current) event.preventDefault();
    },
    // The click of a key that goes up comes right after this event.
    onKeyUpCapture: () => void setTimeout(() => (refused.current = false)),
    onClickCapture: (event: MouseEvent) => {
      const button = buttonOf(event.target);
      if (!button) return;
      const byPointer = event.detail > 0;
      const meant = now.current && (byPointer ? pressed.current === button : !refused.current);
      pressed.current = null;
      if (meant) return;
      event.preventDefault();
      event.stopPropagation();
    },
  };
  return { armed, guard };
}

/** Back to where the focus was before a key led to the card, else to the message. */
function giveBackTo(from: Element | null) {
  if (from instanceof HTMLElement && from.isConnected && from !== document.body) from.focus();
  else giveBack(null);
}

const buttonOf = (target: EventTarget | null): Element | null => (target instanceof Element ? target.closest("[data-answers]") : null);
