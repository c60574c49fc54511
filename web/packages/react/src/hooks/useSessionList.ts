import { useMemo, useSyncExternalStore } from "react";
import type { SessionQuery } from "../core/client";
import type { SessionCreate } from "../wire/types";
import { useWarrenClient } from "../provider";

/** The sessions that match, newest activity first, live. */
export function useSessionList(query: Pick<SessionQuery, "q" | "type" | "state"> = {}) {
  const client = useWarrenClient();
  const list = client.list(query);
  const snapshot = useSyncExternalStore(list.subscribe, list.snapshot, list.snapshot);
  const actions = useMemo(
    () => ({
      create: (session: SessionCreate = {}) => client.createSession(session),
      rename: (sessionId: string, name: string) => client.patchSession(sessionId, { name }),
      remove: (sessionId: string) => client.eraseSession(sessionId),
      loadMore: list.readMore,
      refresh: list.read,
      retry: list.retryNow,
    }),
    [client, list],
  );
  return { ...snapshot, ...actions };
}
