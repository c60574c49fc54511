import { useState } from "react";

/** A switch that is remembered in this browser. */
export function useKept(key: string, usual: boolean): [boolean, (on: boolean) => void] {
  const [on, setOn] = useState(() => {
    try {
      return (localStorage.getItem(key) ?? String(usual)) === "true";
    } catch {
      // A browser that keeps nothing begins as usual each time.
      return usual;
    }
  });
  const set = (next: boolean) => {
    setOn(next);
    try {
      localStorage.setItem(key, String(next));
    } catch {
      // As above.
    }
  };
  return [on, set];
}
