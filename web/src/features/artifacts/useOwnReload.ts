import { useEffect, useRef, useState, type RefObject } from "react";

/**
 * Reloads a preview by itself when the run ends during which it opened, because it shows a page that was half written then.
 * Once, and not under the hands of somebody who works in it.
 */
export function useOwnReload(frame: RefObject<HTMLElement | null>, isRunning: boolean, isStale: boolean, reload: () => void): { onPointerDown: () => void; onKeyDown: () => void } {
  const [isDue, setDue] = useState(isRunning);
  const touched = useRef(false);
  useEffect(() => {
    // A page of another origin tells of no click, but the focus goes into its frame.
    const onBlur = () => {
      if (document.activeElement instanceof HTMLIFrameElement && frame.current?.contains(document.activeElement)) touched.current = true;
    };
    addEventListener("blur", onBlur);
    return () => removeEventListener("blur", onBlur);
  }, [frame]);
  useEffect(() => {
    if (!isDue || isRunning || !isStale) return;
    setDue(false);
    if (!touched.current) reload();
  }, [isDue, isRunning, isStale]);
  const touch = () => void (touched.current = true);
  return { onPointerDown: touch, onKeyDown: touch };
}
