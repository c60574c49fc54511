import { useCallback, useMemo, useState } from "react";
import type { LogLine } from "../wire/types";
import { useWarrenClient } from "../provider";
import { useLive } from "./live";
import { useResource } from "./useResource";

const PART = 200;
const place = (line: LogLine): number => (line.type === "log_compacted" ? line.to : line.seq);

/** The log itself: the last part of it, what comes, and what was before when asked for. */
export function useEvents(sessionId: string) {
  const client = useWarrenClient();
  const live = useLive(sessionId, ["log"], (store) => store.log);
  const loadedAt = useLive(sessionId, ["status"], (store) => (store.status.state === "ready" ? store.state.session?.lastSeq : undefined));
  const [earlier, setEarlier] = useState<readonly LogLine[]>([]);
  const first = useResource(`events ${sessionId} ${loadedAt ?? ""}`, async () => {
    if (loadedAt === undefined) return [];
    return (await client.events(sessionId, { after: Math.max(0, loadedAt - PART), limit: PART })).events;
  });
  const events = useMemo(() => joined([earlier, first.data ?? [], live]), [earlier, first.data, live]);
  const begin = events[0] ? (events[0].type === "log_compacted" ? events[0].from : events[0].seq) : 1;
  const loadEarlier = useCallback(async () => {
    const after = Math.max(0, begin - 1 - PART);
    const part = await client.events(sessionId, { after, limit: Math.max(1, begin - 1 - after) });
    setEarlier((known) => joined([part.events, known]));
  }, [client, sessionId, begin]);
  return { ...first, events, hasEarlier: begin > 1, loadEarlier };
}

/** Parts that may overlap, as one list without doubles, in order. */
export function joined(parts: readonly (readonly LogLine[])[]): readonly LogLine[] {
  const byPlace = new Map<number, LogLine>();
  for (const part of parts) for (const line of part) byPlace.set(place(line), line);
  return [...byPlace.values()].sort((a, b) => place(a) - place(b));
}
