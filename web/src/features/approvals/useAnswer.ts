import { useState } from "react";

/** Answers something once: while the answer is on its way nothing can be pressed, and a refusal is said in place. */
export function useAnswer<A extends unknown[]>(answer: (...args: A) => Promise<unknown>) {
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<string | null>(null);
  const run = (...args: A) => {
    if (busy) return;
    setBusy(true);
    setProblem(null);
    answer(...args).catch((error: unknown) => {
      setProblem(error instanceof Error ? error.message : String(error));
      setBusy(false);
    });
  };
  return { busy, problem, run };
}
