// Who wants to know about which part, told once a frame however much happened in it.

export type Frame = (run: () => void) => void;

const HIDDEN_MS = 1000;

/** The next animation frame; in a hidden tab, where there are none, once a second. */
export const nextFrame: Frame = (run) => {
  const isHidden = typeof document !== "undefined" && document.visibilityState === "hidden";
  if (typeof requestAnimationFrame !== "function" || isHidden) {
    setTimeout(run, isHidden ? HIDDEN_MS : 16);
    return;
  }
  let isDone = false;
  const once = () => {
    if (isDone) return;
    isDone = true;
    run();
  };
  requestAnimationFrame(once);
  // A tab that is hidden before its frame comes would wait until it is shown again.
  setTimeout(once, HIDDEN_MS);
};

export class Watchers<T extends string> {
  readonly #byTopic = new Map<T, Set<() => void>>();
  #pending = new Set<T>();
  #isScheduled = false;

  constructor(private readonly frame: Frame = nextFrame) {}

  watch(topic: T, watcher: () => void): () => void {
    const watchers = this.#byTopic.get(topic) ?? new Set();
    this.#byTopic.set(topic, watchers);
    watchers.add(watcher);
    return () => {
      watchers.delete(watcher);
      if (watchers.size === 0 && this.#byTopic.get(topic) === watchers) this.#byTopic.delete(topic);
    };
  }

  /** What somebody watches now. */
  topics(): readonly T[] {
    return [...this.#byTopic.keys()];
  }

  /** Tells in the next frame. */
  touch(topics: Iterable<T>): void {
    for (const topic of topics) this.#pending.add(topic);
    if (this.#pending.size === 0 || this.#isScheduled) return;
    this.#isScheduled = true;
    this.frame(() => this.flush());
  }

  /** Tells everybody in the next frame: everything may have changed. */
  touchAll(): void {
    this.touch(this.#byTopic.keys());
  }

  /** Tells now. */
  flush(): void {
    this.#isScheduled = false;
    const topics = this.#pending;
    this.#pending = new Set();
    for (const topic of topics) this.#byTopic.get(topic)?.forEach((watcher) => watcher());
  }
}
