import { useEffect, useMemo, useSyncExternalStore } from "react";
import { ResourceStore, type Resource } from "../core/resource";

/** Reads something, and reads it again when `stamp` changes; what was read before stays meanwhile. */
export function useResource<T>(
  key: string,
  read: () => Promise<T>,
  stamp: unknown = null,
): Resource<T> & { refresh: () => Promise<void> } {
  // A new key is another thing. `read` is a new function each time, and the newest knows what is wanted now.
  const store = useMemo(() => {
    const own = { read, stamp };
    return { own, resource: new ResourceStore(() => own.read()) };
  }, [key]);
  const { own, resource } = store;
  const value = useSyncExternalStore(resource.subscribe, resource.snapshot, resource.snapshot);
  useEffect(() => {
    own.read = read;
    if (own.stamp === stamp) return;
    own.stamp = stamp;
    void resource.refresh();
  });
  return useMemo(() => ({ ...value, refresh: resource.refresh }), [value, resource]);
}
