import { useLayoutEffect, useRef, useState } from "react";

/** Whether an element is at least this wide. */
export function useWide(least: number) {
  const ref = useRef<HTMLDivElement>(null);
  const [isWide, setWide] = useState(false);
  useLayoutEffect(() => {
    const element = ref.current;
    if (!element) return;
    const watch = new ResizeObserver(([entry]) => entry && setWide(entry.contentRect.width >= least));
    watch.observe(element);
    return () => watch.disconnect();
  }, [least]);
  return { ref, isWide };
}
