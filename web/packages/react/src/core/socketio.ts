// The same streams over Socket.IO, for places where only that gets through. Calls stay plain requests.
import type { Event, LogLine, SessionsChanged } from "../wire/types";
import { ConnectionError, WarrenError } from "./problem";
import { sseTransport, type SseOptions } from "./sse";
import type { Feed, Transport } from "./transport";

// Any other type of the arguments refuses sockets of `socket.io-client`, whose listeners take `any`.
type Listener = (...args: any[]) => void;

/** What is needed of a socket of `socket.io-client`. */
export type SocketLike = {
  on(name: string, listener: Listener): unknown;
  onAny(listener: Listener): unknown;
  offAny(listener: Listener): unknown;
  off(name: string, listener: Listener): unknown;
  emit(name: string, ...args: unknown[]): unknown;
  connected: boolean;
};

type Ack = { ok?: boolean; lastSeq?: number; error?: { detail?: string; message?: string; code?: string; status?: number } | string };

/** `socket` is one connection (`io(url, { auth: { token } })`) that all sessions share. */
export function socketTransport(socket: SocketLike, options: SseOptions = {}): Transport {
  return {
    fetch: sseTransport(options).fetch,
    follow(sessionId, after, feed) {
      const ended = once(socket, feed);
      const listen = (name: string, payload: Record<string, unknown>) => {
        if (payload?.sessionId !== sessionId || typeof payload.seq !== "number") return;
        const line = eventOf(name, payload);
        if (line) feed.lines([line]);
      };
      socket.onAny(listen);
      const join = () =>
        socket.emit("session:join", { sessionId, after }, (ack: Ack) => {
          if (ack?.error) ended.end(refused(ack.error));
          else feed.opened();
        });
      if (socket.connected) join();
      else socket.on("connect", join);
      return () => {
        ended.stop();
        socket.offAny(listen);
        socket.off("connect", join);
        socket.emit("session:leave", { sessionId });
      };
    },
    news(feed) {
      const ended = once(socket, feed);
      const changed = (news: SessionsChanged) => feed.lines([news]);
      socket.on("sessions:changed", changed);
      const opened = () => feed.opened();
      if (socket.connected) queueMicrotask(opened);
      else socket.on("connect", opened);
      return () => {
        ended.stop();
        socket.off("sessions:changed", changed);
        socket.off("connect", opened);
      };
    },
  };
}

/** A lost socket ends the stream once; whoever follows comes back from its own number. */
function once(socket: SocketLike, feed: Feed<never>) {
  let isOver = false;
  const end = (error: unknown) => {
    if (isOver) return;
    isOver = true;
    feed.ended(error);
  };
  const lost = () => end(new ConnectionError("the socket was lost"));
  socket.on("disconnect", lost);
  socket.on("connect_error", lost);
  const stop = () => {
    isOver = true;
    socket.off("disconnect", lost);
    socket.off("connect_error", lost);
  };
  return { end, stop };
}

export function refused(error: NonNullable<Ack["error"]>): WarrenError {
  // The server sends a problem document, as it does over HTTP.
  const told = typeof error === "string" ? { detail: error } : error;
  const problem = { ...told, detail: told.detail ?? told.message ?? "refused", code: told.code ?? "FORBIDDEN" } as WarrenError["problem"];
  return new WarrenError(told.status ?? 403, problem, "The server refused.");
}

const RUN = /^session:run:(queued|started|completed|failed|interrupted)$/;
const FILE = /^session:file:(created|modified|deleted)$/;
const ARTIFACT = /^session:artifact:(created|updated|deleted)$/;
const PORT = /^session:port:(opened|closed)$/;

/** The entry of the log that a message stands for, or `null` for a second message about the same entry. */
export function eventOf(name: string, payload: Record<string, unknown>): LogLine | null {
  const { seq, sessionId, conversationId, timestamp, runId, spilled, ...rest } = payload;
  const envelope = { seq, sessionId, conversationId, timestamp, ...(runId !== undefined && { runId }), ...(spilled !== undefined && { spilled }) };
  const body = bodyOf(name, rest);
  return body && ({ ...envelope, ...body } as unknown as Event);
}

type Fields = Record<string, unknown>;

function bodyOf(name: string, rest: Fields): Fields | null {
  const grouped =
    of(RUN, name, (which) => ({ type: `run_${which}`, ...rest })) ??
    of(FILE, name, (change) => ({ type: "file_changed", change, path: rest.path, ...(rest.file as Fields) })) ??
    of(ARTIFACT, name, (which) => ({ type: `artifact_${which}`, ...rest })) ??
    of(PORT, name, (which) => ({ type: `port_${which}`, ...rest }));
  return grouped ?? single(name, rest);
}

const of = (pattern: RegExp, name: string, make: (which: string) => Fields): Fields | null => {
  const which = pattern.exec(name)?.[1];
  return which === undefined ? null : make(which);
};

function single(name: string, rest: Fields): Fields | null {
  switch (name) {
    case "session:block:start":
      return { type: "block_start", block: rest.block };
    case "session:block:complete":
      return { type: "block_complete", block: rest.block };
    case "session:block:delta":
      return { type: "text_delta", blockId: rest.blockId, delta: rest.delta };
    case "session:block:update":
      return blockUpdate(rest);
    case "session:subagent:discovered":
      return { type: "subagent_started", ...(rest.subagent as Fields) };
    case "session:subagent:completed":
      return { type: "subagent_completed", ...rest };
    case "session:approval:requested":
      return { type: "approval_requested", ...(rest.approval as Fields) };
    case "session:approval:rule-withdrawn":
      return { type: "approval_rule_withdrawn", ...rest };
    case "session:approval:resolved":
      return { type: "approval_resolved", ...(rest.resolution as Fields) };
    case "session:limit:reached":
      return { type: "limit_reached", ...rest };
    case "session:created":
      return created(rest);
    case "session:log:compacted":
      return { type: "log_compacted", ...rest };
    case "session:version:committed":
      return { type: "version_committed", ...rest };
    case "session:options:update":
      return { type: "session_updated", changes: rest.changes };
    case "session:status":
      return rest.ended ? { type: "session_ended", reason: rest.reason } : { type: "session_status", runtime: rest.runtime };
    case "session:metadata:update":
      return metadata(rest.metadata as Fields);
    default:
      return null;
  }
}

/** The socket calls the agent's type `type`, as its list of sessions does. */
function created({ type, agentProfileReference, ...rest }: Fields): Fields {
  return { ...rest, type: "session_created", agentType: type, profile: agentProfileReference };
}

function blockUpdate(rest: Fields): Fields {
  const updates = rest.updates as Fields | undefined;
  if (rest.discarded) return { type: "block_discarded", blockId: rest.blockId, reason: rest.reason };
  if (updates?.retrying) return { type: "retrying", ...(updates.retrying as Fields) };
  return { type: "block_update", blockId: rest.blockId, updates: updates ?? {} };
}

function metadata(fields: Fields): Fields {
  if (fields.modelCall) return { type: "model_called", ...(fields.modelCall as Fields) };
  return { type: "metadata_update", ...fields };
}
