// Something read by a call and read again when told so: kept while it is being read again, so that nothing flickers.
import { isPassing } from "./problem";
import { soon } from "./reach";

export type Resource<T> =
  | { state: "loading"; data: undefined; error: undefined }
  | { state: "ready"; data: T; error: undefined }
  | { state: "failed"; data: T | undefined; error: unknown };

export class ResourceStore<T> {
  #value: Resource<T> = { state: "loading", data: undefined, error: undefined };
  #generation = 0;
  #isAsked = false;
  #callOff: (() => void) | null = null;
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
    this.#callOff?.();
    this.#callOff = null;
    const generation = ++this.#generation;
    try {
      const data = await this.read();
      if (generation === this.#generation) this.#set({ state: "ready", data, error: undefined });
    } catch (error) {
      if (generation !== this.#generation) return;
      this.#set({ state: "failed", data: this.#value.data, error });
      if (isPassing(error)) this.#callOff = soon(this.#again);
    }
  };

  #again = (): void => {
    // What nobody looks at any more is read when somebody does.
    if (this.#watchers.size > 0) void this.refresh();
    else this.#isAsked = false;
  };

  #set(value: Resource<T>) {
    this.#value = value;
    this.#watchers.forEach((watcher) => watcher());
  }
}
