import { useEffect, useRef, useState } from "react";

/** Whether an element is in view, or nearly. */
export function useNear(margin = "800px") {
  const ref = useRef<HTMLDivElement>(null);
  const [isNear, setNear] = useState(false);
  useEffect(() => {
    // Only the browser knows what is in view.
    const element = ref.current;
    if (!element) return;
    const watch = new IntersectionObserver((entries) => setNear(entries.at(-1)?.isIntersecting ?? false), { root: element.parentElement, rootMargin: margin });
    watch.observe(element);
    return () => watch.disconnect();
  }, [margin]);
  return { ref, isNear };
}
