// How a client reaches a server: calls, and two kinds of stream. Implementations: `sse.ts`, `socketio.ts`.
import type { LogLine, SessionsChanged } from "../wire/types";

export type Call = {
  method?: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  query?: Record<string, string | number | boolean | null | undefined>;
  /** Sent as JSON, unless it is something a browser can send as it is. */
  body?: unknown;
  headers?: Record<string, string>;
  signal?: AbortSignal;
};

/** What a stream tells. `ended` comes once, and nothing after it. */
export type Feed<T> = {
  opened: () => void;
  /** Everything that arrived together, in order. */
  lines: (lines: T[]) => void;
  ended: (error: unknown) => void;
};

export interface Transport {
  /** One call. Rejects with `WarrenError` when the server refuses, `ConnectionError` when it is not there. */
  fetch(path: string, call?: Call): Promise<Response>;
  /** One attempt to follow a session's log after `after`. Returns how to stop it. Coming back is the caller's work. */
  follow(sessionId: string, after: number, feed: Feed<LogLine>): () => void;
  /** One attempt to follow the list of sessions. */
  news(feed: Feed<SessionsChanged>): () => void;
}
