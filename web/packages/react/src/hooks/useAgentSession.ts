import { useMemo } from "react";
import type { Content, MessageSend, SessionPatch } from "../wire/types";
import { lastOf, waitingOf } from "../core/state";
import { useStore } from "../provider";
import { useLive } from "./live";

type SendOptions = Omit<MessageSend, "content" | "idempotencyKey">;

/** One session: what it is, what it does now, what it spent, and what can be done with it. Blocks: `useMessages`. */
export function useAgentSession(sessionId: string) {
  const store = useStore(sessionId);
  const status = useLive(sessionId, ["status"], (live) => live.status);
  const connection = useLive(sessionId, ["connection"], (live) => live.connection);
  const session = useLive(sessionId, ["session"], (live) => live.state.session);
  const runtime = useLive(sessionId, ["session"], (live) => live.state.runtime);
  const ended = useLive(sessionId, ["session"], (live) => live.state.ended);
  const runs = useLive(sessionId, ["runs"], (live) => live.state.runs.values());
  const order = useLive(sessionId, ["runs"], (live) => live.state.queue);
  const queueHeld = useLive(sessionId, ["runs"], (live) => live.state.queueHeld);
  const spending = useLive(sessionId, ["spending"], (live) => live.state.spending);
  const retrying = useLive(sessionId, ["retrying"], (live) => live.state.retrying);
  const compacted = useLive(sessionId, ["compacted"], (live) => live.state.compacted);
  const derived = useMemo(
    () => ({
      activeRun: runs.find((run) => run.status === "running") ?? null,
      queue: waitingOf(runs, order),
      lastRun: lastOf(runs),
    }),
    [runs, order],
  );
  const actions = useMemo(
    () => ({
      send: (content: Content, options?: SendOptions) => store.send(content, options),
      resend: (key: string, options?: SendOptions) => store.resend(key, options),
      discard: (key: string) => store.discard(key),
      interrupt: () => store.client.interrupt(sessionId),
      reword: (runId: string, content: Content) => store.client.rewordRun(sessionId, runId, content),
      move: (runId: string, position: number) => store.client.moveRun(sessionId, runId, position),
      /** Lets queued messages go on that a stop holds. */
      resumeQueue: () => store.client.patchSession(sessionId, { queueHeld: false }),
      drop: (runId: string) => store.client.dropRun(sessionId, runId),
      update: (changes: SessionPatch) => store.client.patchSession(sessionId, changes),
      end: (reason?: string) => store.client.endSession(sessionId, reason),
      retry: () => store.retryNow(),
    }),
    [store, sessionId],
  );
  return { status, connection, session, runtime, ended, runs, queueHeld, spending, retrying, compacted, ...derived, ...actions };
}
