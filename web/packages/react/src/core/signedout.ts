// Notices when the server does not know this client any more, whichever call or stream it says so to first.
import { WarrenError } from "./problem";
import type { Feed, Transport } from "./transport";

const UNAUTHORIZED = 401;

export class SignedOut {
  #why: WarrenError | null = null;
  readonly #watchers = new Set<() => void>();

  /** What the server said; nothing while it knows this client. */
  why = (): WarrenError | null => this.#why;

  watch = (watcher: () => void): (() => void) => {
    this.#watchers.add(watcher);
    return () => void this.#watchers.delete(watcher);
  };

  /** A transport that tells of refusals. */
  over(transport: Transport): Transport {
    const noticing = <T>(feed: Feed<T>): Feed<T> => ({
      ...feed,
      ended: (error) => {
        this.#notice(error);
        feed.ended(error);
      },
    });
    return {
      fetch: (path, call) =>
        transport.fetch(path, call).catch((error: unknown) => {
          this.#notice(error);
          throw error;
        }),
      follow: (session, after, feed) => transport.follow(session, after, noticing(feed)),
      news: (feed) => transport.news(noticing(feed)),
    };
  }

  /** Somebody signed in, and nothing of what was read before is shown any more. */
  clear(): void {
    if (this.#why) this.#set(null);
  }

  #notice(error: unknown) {
    if (!this.#why && error instanceof WarrenError && error.status === UNAUTHORIZED) this.#set(error);
  }

  #set(why: WarrenError | null) {
    this.#why = why;
    for (const watcher of [...this.#watchers]) watcher();
  }
}
