// How wide the panel is: dragged between 360 and 900, or moved with the arrow keys, and remembered.
import { useLayoutEffect, useState, type KeyboardEvent, type PointerEvent } from "react";

const KEY = "warren.panel-width";
const LEAST = 360;
const MOST = 900;

const kept = (): number | null => {
  try {
    const text = localStorage.getItem(KEY);
    return text === null ? null : within(Number(text));
  } catch {
    return null;
  }
};

export const within = (px: number): number => (Number.isFinite(px) ? Math.round(Math.max(LEAST, Math.min(MOST, px))) : LEAST);

/** One width for all tabs: the conversation beside it does not move when a tab is chosen. */
const USUAL = 500;

export function usePanelWidth() {
  const [chosen, setChosen] = useState(kept);
  const px = chosen ?? USUAL;
  useLayoutEffect(() => {
    // The grid that the panel stands in reads it.
    document.documentElement.style.setProperty("--panel-drag", `${px}px`);
  }, [px]);
  const choose = (to: number) => {
    setChosen(within(to));
    try {
      localStorage.setItem(KEY, String(within(to)));
    } catch {
      // Not remembered, but as wide as wanted until the page is left.
    }
  };
  const onPointerDown = (event: PointerEvent<HTMLElement>) => {
    event.preventDefault();
    const grip = event.currentTarget;
    grip.setPointerCapture(event.pointerId);
    const move = (to: globalThis.PointerEvent) => choose(innerWidth - to.clientX);
    const end = () => grip.removeEventListener("pointermove", move);
    grip.addEventListener("pointermove", move);
    grip.addEventListener("lostpointercapture", end, { once: true });
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const step = { ArrowLeft: 24, ArrowRight: -24 }[event.key];
    if (step === undefined) return;
    event.preventDefault();
    choose(px + step);
  };
  return { px, grip: { onPointerDown, onKeyDown } };
}
