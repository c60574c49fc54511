import type { useAgentSession } from "@warren/react";
import { useState } from "react";
import { said } from "~/lib/problem";

type Live = ReturnType<typeof useAgentSession>;

/** Stopping the run in progress, and going on after one that failed or was stopped. */
export function useRunControl(live: Live) {
  const [stopping, setStopping] = useState<string | null>(null);
  const [unstopped, setUnstopped] = useState<string | null>(null);
  const { activeRun, lastRun } = live;
  const stop = () => {
    if (!activeRun || stopping === activeRun.runId) return;
    setStopping(activeRun.runId);
    setUnstopped(null);
    live.interrupt().catch((error: unknown) => {
      setStopping(null);
      setUnstopped(said(error));
    });
  };
  /** Sends the message of a failed run again; after a stop it asks the agent to continue. */
  const retry = () => void live.send(lastRun?.status === "failed" ? lastRun.content : "Continue.").catch(() => {});
  return {
    stop,
    retry,
    isStopping: stopping !== null && stopping === activeRun?.runId,
    problem: activeRun === null ? null : unstopped,
  };
}
