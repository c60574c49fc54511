import { useMemo, useState } from "react";
import type { Version } from "../wire/contract";
import { useWarrenClient } from "../provider";
import { useLive } from "./live";
import { useResource } from "./useResource";

/** The versions of a session, newest first, and what can be done with one. */
export function useVersions(sessionId: string) {
  const client = useWarrenClient();
  const stamp = useLive(sessionId, ["versions"], (store) => store.state.versions.values());
  const [limit, setLimit] = useState(50);
  const [changes, setChanges] = useState(0);
  const page = useResource(
    `versions ${sessionId}`,
    () => client.versions(sessionId, { limit }),
    `${stamp.length} ${stamp.at(-1)?.version ?? ""} ${changes} ${limit}`,
  );
  const actions = useMemo(() => {
    const changed = async <T,>(work: Promise<T>): Promise<T> => {
      const done = await work;
      setChanges((n) => n + 1);
      return done;
    };
    return {
      diff: (version: number, against?: number) => client.diff(sessionId, version, against),
      fork: (options: { version?: number; name?: string; type?: string; profile?: string } = {}) =>
        client.fork(sessionId, options),
      restore: (version: number) => changed(client.restore(sessionId, version)),
      label: (version: number, label: string | null) => changed(client.label(sessionId, version, label)),
      snapshot: () => changed(client.snapshot(sessionId)),
      replay: (runId: string) => client.replayRun(sessionId, runId),
      loadMore: () => setLimit((n) => n + 50),
    };
  }, [client, sessionId]);
  const versions: readonly Version[] = page.data?.versions ?? [];
  return { ...page, versions, head: page.data?.head ?? null, hasMore: page.data?.nextCursor !== undefined, ...actions };
}
