import { useCallback, useEffect, useRef, useState } from "react";

/** At most one sentence in this time: a listener must be able to follow. */
const PAUSE_MS = 2000;

/** One polite voice. What is said while it speaks waits: all that is urgent, in order, and of the rest only the latest. */
export function useAnnouncer(): [spoken: string, announce: (sentence: string, how?: "urgent") => void] {
  const [spoken, setSpoken] = useState("");
  const urgent = useRef<string[]>([]);
  const latest = useRef<string | null>(null);
  const timer = useRef<ReturnType<typeof setTimeout> | null>(null);
  const announce = useCallback((sentence: string, how?: "urgent") => {
    const next = (): string | null => {
      const first = urgent.current.shift();
      if (first !== undefined) return first;
      const last = latest.current;
      latest.current = null;
      return last;
    };
    const speak = (text: string) => {
      setSpoken(text);
      timer.current = setTimeout(() => {
        timer.current = null;
        const waiting = next();
        if (waiting !== null) speak(waiting);
      }, PAUSE_MS);
    };
    if (!timer.current) speak(sentence);
    else if (how === "urgent") urgent.current.push(sentence);
    else latest.current = sentence;
  }, []);
  useEffect(() => () => void (timer.current && clearTimeout(timer.current)), []);
  return [spoken, announce];
}
