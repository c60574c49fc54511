// Which cards a person opened or closed. Kept outside the cards, because those out of view are not in the document.
import { useState } from "react";

const chosen = new Map<string, boolean>();
/** More than anybody opens; the oldest are forgotten. */
const MOST = 5000;

/** Whether a card is open: what the person chose, else `usual`. */
export function useOpened(key: string, usual: boolean): [boolean, (open: boolean) => void] {
  const [, draw] = useState(0);
  const set = (open: boolean) => {
    if (open === (chosen.get(key) ?? usual)) return;
    chosen.delete(key);
    chosen.set(key, open);
    const oldest = chosen.keys().next();
    if (chosen.size > MOST && !oldest.done) chosen.delete(oldest.value);
    draw((n) => n + 1);
  };
  return [chosen.get(key) ?? usual, set];
}
