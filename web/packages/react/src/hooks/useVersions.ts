import { useMemo, useState } from "react";
import type { WarrenClient } from "../core/client";
import type { Version, VersionPage } from "../wire/contract";
import { useWarrenClient } from "../provider";
import { useLive } from "./live";
import { useResource } from "./useResource";

const FIRST_PART = 5;
const NEXT_PART = 50;

/** Versions back to a point in time, newest first. */
async function versionsSince(client: WarrenClient, sessionId: string, since: number): Promise<VersionPage> {
  let page = await client.versions(sessionId, { limit: FIRST_PART });
  while (page.nextCursor !== undefined && Date.parse(page.versions.at(-1)?.createdAt ?? "") > since) {
    const next = await client.versions(sessionId, { limit: NEXT_PART, cursor: page.nextCursor });
    page = { ...next, versions: [...page.versions, ...next.versions], head: page.head };
  }
  return page;
}

/** The versions of a session, newest first, and what can be done with one. With `since`, those made since then. */
export function useVersions(sessionId: string, { since }: { since?: number } = {}) {
  const client = useWarrenClient();
  const stamp = useLive(sessionId, ["versions"], (store) => store.state.versions.values());
  const [limit, setLimit] = useState(50);
  const [changes, setChanges] = useState(0);
  const page = useResource(
    `versions ${sessionId}`,
    () => (since === undefined ? client.versions(sessionId, { limit }) : versionsSince(client, sessionId, since)),
    `${stamp.length} ${stamp.at(-1)?.version ?? ""} ${changes} ${limit} ${since ?? ""}`,
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
