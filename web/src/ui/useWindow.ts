// Which rows of a long list of equally high rows are in view. Only those are drawn.
import { useCallback, useLayoutEffect, useRef, useState } from "react";

/** Rows drawn above and below, so that a quick scroll shows no gap. */
const BEYOND = 12;

export function useWindow(rows: number, height: number) {
  const ref = useRef<HTMLDivElement>(null);
  const [view, setView] = useState({ top: 0, tall: 600 });
  const look = useCallback(() => {
    const element = ref.current;
    if (!element) return;
    const next = { top: element.scrollTop, tall: element.clientHeight };
    setView((old) => (Math.abs(old.top - next.top) < height && old.tall === next.tall ? old : next));
  }, [height]);
  useLayoutEffect(() => {
    const element = ref.current;
    if (!element) return;
    look();
    const watch = new ResizeObserver(look);
    watch.observe(element);
    return () => watch.disconnect();
  }, [look]);
  const from = Math.max(0, Math.min(rows, Math.floor(view.top / height) - BEYOND));
  const to = Math.min(rows, Math.ceil((view.top + view.tall) / height) + BEYOND);
  /** Scrolls as little as brings a row into view. */
  const reveal = useCallback((row: number) => {
    const element = ref.current;
    if (!element || row < 0) return;
    if (row * height < element.scrollTop) element.scrollTop = row * height;
    else if ((row + 1) * height > element.scrollTop + element.clientHeight) element.scrollTop = (row + 1) * height - element.clientHeight;
    look();
  }, [height, look]);
  return { ref, onScroll: look, from, to, reveal };
}
