// Keeps a stream going: comes back by itself, later each time, and says how it stands.
import { isFinal } from "./problem";
import { isBack } from "./reach";
import type { Feed } from "./transport";

export type ConnectionState =
  | { state: "connecting" }
  | { state: "live" }
  /** Lost; the next attempt is at `retryAt` (milliseconds since 1970). */
  | { state: "offline"; attempt: number; retryAt: number; error: unknown }
  /** The server said no, and would say so again. */
  | { state: "refused"; error: unknown };

export type Clock = {
  now: () => number;
  after: (ms: number, run: () => void) => () => void;
  random: () => number;
};

export const systemClock: Clock = {
  now: () => Date.now(),
  after: (ms, run) => {
    const timer = setTimeout(run, ms);
    return () => clearTimeout(timer);
  },
  random: Math.random,
};

const FIRST_MS = 500;
const LONGEST_MS = 15_000;

/** How long to wait before attempt `n` (1 is the first again): doubled each time, spread so that clients do not come in step. */
export function backoff(attempt: number, random: number): number {
  const whole = Math.min(LONGEST_MS, FIRST_MS * 2 ** (attempt - 1));
  return Math.round(whole * (0.75 + random / 2));
}

type Open<T> = (feed: Feed<T>) => () => void;

export class Connection<T> {
  #state: ConnectionState = { state: "connecting" };
  #attempt = 0;
  #stopStream: (() => void) | null = null;
  #cancelWait: (() => void) | null = null;
  #isClosed = false;

  constructor(
    private readonly open: Open<T>,
    private readonly onLines: (lines: T[]) => void,
    private readonly onState: (state: ConnectionState) => void,
    private readonly clock: Clock = systemClock,
  ) {}

  get state(): ConnectionState {
    return this.#state;
  }

  start(): void {
    this.#isClosed = false;
    if (typeof addEventListener === "function") addEventListener("online", this.retryNow);
    this.#connect();
  }

  close(): void {
    this.#isClosed = true;
    if (typeof removeEventListener === "function") removeEventListener("online", this.retryNow);
    this.#cancelWait?.();
    this.#stopStream?.();
    this.#stopStream = null;
  }

  /** Tries at once instead of waiting. Does nothing while it is connected. */
  retryNow = (): void => {
    if (this.#isClosed || this.#state.state !== "offline") return;
    this.#cancelWait?.();
    this.#connect();
  };

  #connect() {
    this.#cancelWait = null;
    if (this.#attempt === 0) this.#tell({ state: "connecting" });
    let isCurrent = true;
    const stop = this.open({
      opened: () => {
        if (!isCurrent) return;
        const wasLost = this.#attempt > 0;
        this.#attempt = 0;
        this.#tell({ state: "live" });
        if (wasLost) isBack();
      },
      lines: (lines) => isCurrent && this.onLines(lines),
      ended: (error) => {
        if (!isCurrent) return;
        isCurrent = false;
        this.#stopStream = null;
        this.#lost(error);
      },
    });
    this.#stopStream = () => {
      isCurrent = false;
      stop();
    };
  }

  #lost(error: unknown) {
    if (this.#isClosed) return;
    if (isFinal(error)) {
      this.#tell({ state: "refused", error });
      return;
    }
    this.#attempt += 1;
    const wait = backoff(this.#attempt, this.clock.random());
    this.#tell({ state: "offline", attempt: this.#attempt, retryAt: this.clock.now() + wait, error });
    this.#cancelWait = this.clock.after(wait, () => this.#connect());
  }

  #tell(state: ConnectionState) {
    this.#state = state;
    this.onState(state);
  }
}
