// Something read by a call and read again when told so: kept while it is being read again, so that nothing flickers.

import { ConnectionError } from "./problem";

/** How long after a failure to reach the server it is tried again. */
const AGAIN_MS = 3_000;

export type Resource<T> =
  | { state: "loading"; data: undefined; error: undefined }
  | { state: "ready"; data: T; error: undefined }
  | { state: "failed"; data: T | undefined; error: unknown };

export class ResourceStore<T> {
  #value: Resource<T> = { state: "loading", data: undefined, error: undefined };
  #generation = 0;
  #isAsked = false;
  readonly #watchers = new Set<() => void>();

  constructor(private readonly read: () => Promise<T>) {}

  snapshot = (): Resource<T> => this.#value;

  subscribe = (watcher: () => void): (() => void) => {
    this.#watchers.add(watcher);
    if (!this.#isAsked) void this.refresh();
    return () => this.#watchers.delete(watcher);
  };

  refresh = async (): Promise<void> => {
    this.#isAsked = true;
    const generation = ++this.#generation;
    try {
      const data = await this.read();
      if (generation === this.#generation) this.#set({ state: "ready", data, error: undefined });
    } catch (error) {
      if (generation !== this.#generation) return;
      this.#set({ state: "failed", data: this.#value.data, error });
      // What nobody looks at any more is not read again.
      const again = () => generation === this.#generation && this.#watchers.size > 0 && void this.refresh();
      if (error instanceof ConnectionError) setTimeout(again, AGAIN_MS);
    }
  };

  #set(value: Resource<T>) {
    this.#value = value;
    this.#watchers.forEach((watcher) => watcher());
  }
}
