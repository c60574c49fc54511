import { useLayoutEffect, useState, type RefObject } from "react";

/** Space left and right of a page. */
const MARGIN = 28;
/** Wider than this a page is no easier to read. */
const MAX_WIDTH = 1100;

/** The scale at which a page of this width fills the element. */
export function useFit(box: RefObject<HTMLElement | null>, width: number): number {
  const [room, setRoom] = useState(600);
  useLayoutEffect(() => {
    // The panel is dragged, and full screen comes and goes: only the element itself knows its width.
    const element = box.current;
    if (!element) return;
    const watch = new ResizeObserver(() => setRoom(element.clientWidth));
    watch.observe(element);
    return () => watch.disconnect();
  }, [box]);
  return Math.max(120, Math.min(room - MARGIN, MAX_WIDTH)) / width;
}
