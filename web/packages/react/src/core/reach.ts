// When the server can be reached again, so that what could not be read meanwhile is read at once and not at the next round.

/** How long after a failure to reach the server it is tried again, if nothing tells earlier that it is there. */
const AGAIN_MS = 3_000;

// One for the whole page: what is lost and comes back is the machine's network, whoever reads over it.
const waiting = new Set<() => void>();

/** Tells those who wait that the server answers again. */
export function isBack(): void {
  for (const run of [...waiting]) run();
}

/** Runs once: as soon as the server may be there again, or in a while. Returns how to call it off. */
export function soon(run: () => void): () => void {
  const stop = () => {
    clearTimeout(timer);
    waiting.delete(now);
    if (waiting.size === 0) globalThis.removeEventListener?.("online", isBack);
  };
  const now = () => {
    stop();
    run();
  };
  const timer = setTimeout(now, AGAIN_MS);
  if (waiting.size === 0) globalThis.addEventListener?.("online", isBack);
  waiting.add(now);
  return stop;
}
