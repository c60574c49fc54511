// Replays of a session: listed once, followed while one is under way.
import { ConnectionError, useResource, useWarrenClient, type Replay } from "@warren/react";
import { useCallback, useEffect, useMemo, useState } from "react";

const POLL_MS = 1500;

export function useReplays(sessionId: string) {
  const client = useWarrenClient();
  const listed = useResource(`replays ${sessionId}`, () => client.replays(sessionId));
  const { refresh } = listed;
  const [started, setStarted] = useState<readonly Replay[]>([]);
  const all = useMemo(() => {
    const byId = new Map((listed.data?.replays ?? []).map((replay) => [replay.replayId, replay]));
    for (const replay of started) byId.set(replay.replayId, replay);
    return [...byId.values()].sort((a, b) => a.startedAt.localeCompare(b.startedAt));
  }, [listed.data, started]);
  const running = all.find((replay) => replay.status === "running")?.replayId;
  useEffect(() => {
    if (!running) return;
    const timer = setInterval(() => {
      client.replay(sessionId, running).then(
        (now) => setStarted((known) => [...known.filter((one) => one.replayId !== now.replayId), now]),
        () => {}, // The next round asks again; the chip goes on saying that it runs, which is what is known.
      );
    }, POLL_MS);
    return () => clearInterval(timer);
  }, [client, sessionId, running]);
  const start = useCallback(async (runId: string) => {
    try {
      const replay = await client.replayRun(sessionId, runId);
      setStarted((known) => [...known, replay]);
    } catch (error) {
      if (!(error instanceof ConnectionError)) throw error;
      // It may have begun all the same: the list, which is read until it can be, will say.
      void refresh();
      throw new Error("The server cannot be reached. If the replay started, it appears here. Otherwise start it again.", { cause: error });
    }
  }, [client, sessionId, refresh]);
  const ofRun = useCallback((runId: string | undefined) => (runId ? (all.findLast((replay) => replay.runId === runId) ?? null) : null), [all]);
  return { start, ofRun };
}
