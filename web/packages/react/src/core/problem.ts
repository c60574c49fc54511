import type { Problem } from "../wire/types";

/** The server refused, and said why. `message` is what is wrong; `hint` what to do. */
export class WarrenError extends Error {
  override readonly name = "WarrenError";
  readonly status: number;
  readonly code: string;
  readonly hint: string | undefined;
  readonly problem: Problem | undefined;

  constructor(status: number, problem: Problem | undefined, fallback: string) {
    super(problem?.detail || problem?.title || fallback);
    this.status = status;
    this.code = problem?.code ?? "UNKNOWN";
    this.hint = problem?.hint ?? undefined;
    this.problem = problem;
  }
}

/** The server could not be reached: nothing is known about what it did. */
export class ConnectionError extends Error {
  override readonly name = "ConnectionError";
  constructor(cause: unknown) {
    super("The server cannot be reached.", { cause });
  }
}

/**
 * The rest of an answer. One that breaks off is a lost connection, however the browser calls it: half of a list would
 * otherwise look like a fault of the server that no second question mends.
 */
export async function received<T>(reading: Promise<T>, signal?: AbortSignal): Promise<T> {
  try {
    return await reading;
  } catch (error) {
    if (signal?.aborted) throw error;
    throw new ConnectionError(error);
  }
}

/** The server was not reached: not at all, or only what stands before it answered. It may be there in a moment. */
export const isPassing = (error: unknown): boolean =>
  error instanceof ConnectionError || (error instanceof WarrenError && error.problem === undefined && error.status >= 500);

/** Asking again will not help: the caller may not, or the thing is not there. */
export const isFinal = (error: unknown): boolean =>
  error instanceof WarrenError && error.status >= 400 && error.status < 500 && error.status !== 408 && error.status !== 429;
