import { useLayoutEffect, type RefObject } from "react";

/** Space between the two. */
const GAP = 8;

/** Lifts a box at the bottom of the page above what it would cover, for as long as they would meet. */
export function useClearOf(box: RefObject<HTMLElement | null>, selector: string, isShown: boolean) {
  useLayoutEffect(() => {
    const own = box.current;
    const other = document.querySelector<HTMLElement>(selector);
    if (!own || !isShown) return;
    const place = () => {
      own.style.bottom = "";
      const [here, there] = [own.getBoundingClientRect(), other?.getBoundingClientRect()];
      const meets = there !== undefined && there.width > 0 && here.left < there.right && there.left < here.right && there.top < here.bottom;
      if (meets) own.style.bottom = `${Math.max(0, innerHeight - there.top) + GAP}px`;
    };
    place();
    addEventListener("resize", place);
    // What is written grows while it is written.
    const growth = new ResizeObserver(place);
    if (other) growth.observe(other);
    return () => {
      removeEventListener("resize", place);
      growth.disconnect();
    };
  }, [box, selector, isShown]);
}
