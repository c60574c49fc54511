// Calls and server-sent events over fetch, which unlike EventSource can carry a token and says why it failed.
import type { LogLine, Problem, SessionsChanged } from "../wire/types";
import { ConnectionError, WarrenError } from "./problem";
import type { Call, Feed, Transport } from "./transport";

export type SseOptions = {
  /** Where the server is; the page's own origin if absent. */
  url?: string;
  /** Sent as `Authorization`. A browser that is signed in needs none. */
  token?: string;
  fetch?: typeof globalThis.fetch;
  /** After this much silence a stream is taken for dead. The server says something every 15 s. */
  silenceMs?: number;
};

const CSRF_COOKIE = "warren_csrf";
const CSRF_HEADER = "X-Warren-CSRF";

export function sseTransport(options: SseOptions = {}): Transport {
  const base = options.url?.replace(/\/$/, "") ?? "";
  const send = options.fetch ?? globalThis.fetch.bind(globalThis);

  const call = async (path: string, { method = "GET", query, body, headers, signal }: Call = {}) => {
    const sent = new Headers(headers);
    if (options.token) sent.set("Authorization", `Bearer ${options.token}`);
    else if (method !== "GET") sent.set(CSRF_HEADER, cookie(CSRF_COOKIE));
    const isRaw = body instanceof Blob || body instanceof ArrayBuffer || body instanceof FormData || body instanceof Uint8Array;
    if (body !== undefined && !isRaw) sent.set("Content-Type", "application/json");
    const payload = body === undefined ? null : isRaw ? (body as BodyInit) : JSON.stringify(body);
    let response: Response;
    try {
      response = await send(base + path + search(query), {
        method, headers: sent, body: payload, signal: signal ?? null, credentials: "same-origin",
      });
    } catch (error) {
      if (signal?.aborted) throw error;
      throw new ConnectionError(error);
    }
    if (!response.ok) throw await refusal(response);
    return response;
  };

  const stream = <T>(path: string, query: Call["query"], feed: Feed<T>) => {
    const stop = new AbortController();
    let silence: ReturnType<typeof setTimeout> | undefined;
    const heard = () => {
      clearTimeout(silence);
      silence = setTimeout(() => stop.abort(new ConnectionError("silence")), options.silenceMs ?? 40_000);
    };
    const run = async () => {
      heard();
      const response = await call(path, { query, headers: { Accept: "text/event-stream" }, signal: stop.signal });
      if (!response.body) throw new ConnectionError("the answer has no body");
      feed.opened();
      await read(response.body, heard, feed);
    };
    let isStopped = false;
    run().then(
      () => isStopped || feed.ended(null),
      (error) => isStopped || feed.ended(stop.signal.aborted ? stop.signal.reason : error),
    ).finally(() => clearTimeout(silence));
    return () => {
      isStopped = true;
      stop.abort();
    };
  };

  return {
    fetch: call,
    follow: (id, after, feed) => stream<LogLine>(`/api/sessions/${encodeURIComponent(id)}/events`, { after }, feed),
    news: (feed) => stream<SessionsChanged>("/api/events", {}, feed),
  };
}

async function read<T>(body: ReadableStream<Uint8Array>, heard: () => void, feed: Feed<T>) {
  const reader = body.pipeThrough(new TextDecoderStream() as ReadableWritablePair<string, Uint8Array>).getReader();
  const parser = new SseParser();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    heard();
    const data = parser.push(value);
    if (data.length > 0) feed.lines(data.map((text) => JSON.parse(text) as T));
    if (parser.problem !== undefined) throw ended(JSON.parse(parser.problem) as Problem);
  }
}

/** Cuts a stream of text into the data of its events. Names and numbers are inside the data here; only the last event of
 * a stream that the server ends has a name, `problem`, and says why. */
export class SseParser {
  #rest = "";
  #data: string[] = [];
  #name = "";

  /** Why the server ended the stream, if it said so. */
  problem: string | undefined;

  push(text: string): string[] {
    const out: string[] = [];
    this.#rest += text;
    // A carriage return at the very end may be half of a line end.
    const lines = this.#rest.split(/\r\n|\n|\r(?!$)/);
    this.#rest = lines.pop() ?? "";
    for (const line of lines) {
      if (line === "") {
        const data = this.#data.join("\n");
        if (this.#name === "problem") this.problem = data;
        else if (this.#data.length > 0) out.push(data);
        this.#data = [];
        this.#name = "";
      } else if (line.startsWith("data:")) {
        this.#data.push(value(line, 5));
      } else if (line.startsWith("event:")) {
        this.#name = value(line, 6);
      }
    }
    return out;
  }
}

/** What follows a field's name and its colon. */
function value(line: string, from: number): string {
  return line.slice(line[from] === " " ? from + 1 : from);
}

function ended(problem: Problem): WarrenError {
  return new WarrenError(problem.status, problem, problem.detail);
}

async function refusal(response: Response): Promise<WarrenError> {
  const problem = (await response.json().catch(() => undefined)) as Problem | undefined;
  return new WarrenError(response.status, problem, `The server answered ${response.status}.`);
}

function search(query: Call["query"]): string {
  const given = Object.entries(query ?? {}).filter(([, value]) => value !== undefined && value !== null);
  if (given.length === 0) return "";
  return `?${new URLSearchParams(given.map(([key, value]) => [key, String(value)]))}`;
}

function cookie(name: string): string {
  if (typeof document === "undefined") return "";
  const found = document.cookie.split(/;\s*/).find((pair) => pair.startsWith(`${name}=`));
  return found?.slice(name.length + 1) ?? "";
}
