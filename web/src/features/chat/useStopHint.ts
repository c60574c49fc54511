import { useRef, useState } from "react";

/** As long as a second Escape stops the run. */
export const STOP_HINT_MS = 1500;

/** Whether “Esc again to stop” is shown, and how to show it. */
export function useStopHint(): [shown: boolean, show: () => void] {
  const [shown, setShown] = useState(false);
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  const show = () => {
    clearTimeout(timer.current);
    setShown(true);
    timer.current = setTimeout(() => setShown(false), STOP_HINT_MS);
  };
  return [shown, show];
}
