import { useLive, useVersions, useWarrenClient } from "@warren/react";
import { useMemo } from "react";
import { ownCost } from "../versions/ownCost";
import type { VersionFact } from "./marks";

/** Versions as the conversation shows them: those that are listed, as far back as its blocks, and those just made. */
export function useVersionFacts(sessionId: string): readonly VersionFact[] {
  const since = useLive(sessionId, ["order:main", "status"], (live) => live.state.main.values()[0]?.timestamp);
  const { versions } = useVersions(sessionId, { since: since === undefined ? Infinity : Date.parse(since) });
  const news = useLive(sessionId, ["versions"], (live) => live.state.versions.values());
  const ran = useLive(sessionId, ["runs"], (live) => live.state.runs.values());
  const { runs } = useWarrenClient().store(sessionId).state;
  return useMemo(() => {
    const all = new Map<number, VersionFact>();
    for (const one of news) all.set(one.version, { ...one, at: Date.parse(one.at) });
    for (const one of versions) all.set(one.version, { ...one, at: Date.parse(one.createdAt), costUSD: ownCost(one, versions) });
    return [...all.values()].map(({ version, cause, restored, files, blocks, costUSD, at, seq, runId }) => {
      const run = runId === undefined ? undefined : runs.get(runId);
      const ms = run?.startedAt && run.endedAt ? Date.parse(run.endedAt) - Date.parse(run.startedAt) : undefined;
      return { version, cause, restored, files, blocks, costUSD: costUSD ?? run?.costUSD, at, seq, runId, ms };
    });
  }, [versions, news, ran]);
}
