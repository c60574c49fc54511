import { useEffect, useMemo, useSyncExternalStore } from "react";
import { ResourceStore, type Resource } from "../core/resource";

/** Reads something, and reads it again when `stamp` changes; what was read before stays meanwhile. */
export function useResource<T>(
  key: string,
  read: () => Promise<T>,
  stamp: unknown = null,
): Resource<T> & { refresh: () => Promise<void> } {
  // A new key is another thing; `read` is a new function each time and says nothing.
  const store = useMemo(() => ({ key, resource: new ResourceStore(read), stamp }), [key]);
  const { resource } = store;
  const value = useSyncExternalStore(resource.subscribe, resource.snapshot, resource.snapshot);
  useEffect(() => {
    if (store.stamp === stamp) return;
    store.stamp = stamp;
    void resource.refresh();
  }, [store, resource, stamp]);
  return useMemo(() => ({ ...value, refresh: resource.refresh }), [value, resource]);
}
