import { useLayoutEffect, type RefObject } from "react";

/** Space between the two. */
const GAP = 8;
/** The other may come late, or grow while somebody writes. */
const EVERY_MS = 200;

/** Lifts a box at the bottom of the page above what it would cover, for as long as they would meet. */
export function useClearOf(box: RefObject<HTMLElement | null>, selector: string, isShown: boolean) {
  useLayoutEffect(() => {
    const own = box.current;
    if (!own || !isShown) return;
    const place = () => {
      own.style.bottom = "";
      const [here, there] = [own.getBoundingClientRect(), document.querySelector(selector)?.getBoundingClientRect()];
      const meets = there !== undefined && there.width > 0 && here.left < there.right && there.left < here.right && there.top < here.bottom;
      if (meets) own.style.bottom = `${Math.max(0, innerHeight - there.top) + GAP}px`;
    };
    place();
    const timer = setInterval(place, EVERY_MS);
    addEventListener("resize", place);
    return () => {
      clearInterval(timer);
      removeEventListener("resize", place);
    };
  }, [box, selector, isShown]);
}
