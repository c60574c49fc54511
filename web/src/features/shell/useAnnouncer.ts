import { useCallback, useEffect, useRef, useState } from "react";

/** At most one sentence in this time: a listener must be able to follow. */
const PAUSE_MS = 2000;

/** One polite voice. What is said while it speaks waits; of much, only the latest is kept. */
export function useAnnouncer(): [spoken: string, announce: (sentence: string) => void] {
  const [spoken, setSpoken] = useState("");
  const next = useRef<string | null>(null);
  const timer = useRef<ReturnType<typeof setTimeout> | null>(null);
  const announce = useCallback((sentence: string) => {
    if (timer.current) {
      next.current = sentence;
      return;
    }
    const speak = (text: string) => {
      setSpoken(text);
      timer.current = setTimeout(() => {
        timer.current = null;
        const waiting = next.current;
        next.current = null;
        if (waiting !== null) speak(waiting);
      }, PAUSE_MS);
    };
    speak(sentence);
  }, []);
  useEffect(() => () => void (timer.current && clearTimeout(timer.current)), []);
  return [spoken, announce];
}
