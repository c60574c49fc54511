// Reads a part of a live session. The session stays live while at least one component reads it.
import { useCallback, useSyncExternalStore } from "react";
import type { SessionStore, StoreTopic } from "../core/store";
import { useStore } from "../provider";

/** `read` must give the same value until one of the topics was touched. */
export function useLive<T>(sessionId: string, topics: readonly StoreTopic[], read: (store: SessionStore) => T): T {
  const store = useStore(sessionId);
  const key = topics.join(" ");
  const subscribe = useCallback(
    (watcher: () => void) => {
      const letGo = store.use();
      const stops = key.split(" ").map((topic) => store.watch(topic as StoreTopic, watcher));
      return () => {
        stops.forEach((stop) => stop());
        letGo();
      };
    },
    [store, key],
  );
  return useSyncExternalStore(subscribe, () => read(store), () => read(store));
}
