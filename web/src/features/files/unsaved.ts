// Which files are not as in the latest version: asked of the server, so that it is the same after a reload and everywhere.
import { useLive, useResource, useWarrenClient, useWorkspaceFiles, type FileChangeItem, type FileChanges, type FileNews } from "@warren/react";
import { useEffect, useMemo, useState } from "react";

/** A file that is not as in the latest version; `seq` and `at` are of its last change that this page has seen. */
export type Unsaved = FileNews & { movedFrom?: string | null };

/** Asked again at most this often while an agent writes. */
const PAUSE_MS = 700;

/** The files that differ from the latest version, by path. `version`: that version, once it is known. */
export function useUnsavedFiles(sessionId: string): { files: ReadonlyMap<string, Unsaved>; version: number | null; isKnown: boolean } {
  const client = useWarrenClient();
  const { changes } = useWorkspaceFiles(sessionId);
  const versions = useLive(sessionId, ["versions"], (store) => store.state.versions.values());
  const stamp = useSettled(`${changes.at(-1)?.seq ?? 0} ${versions.at(-1)?.version ?? ""}`);
  const { data, state } = useResource(`unsaved ${sessionId}`, () => client.unsavedFiles(sessionId), stamp);
  return useMemo(() => ({ files: byPath(data, changes), version: data?.version ?? null, isKnown: state !== "loading" }), [data, state, changes]);
}

/** What the server lists, with the moment of each change as far as it was seen. Pure. */
export function byPath(listed: FileChanges | undefined, news: readonly FileNews[]): ReadonlyMap<string, Unsaved> {
  const seen = new Map(news.map((one) => [one.path, one]));
  const unsaved = ({ path, change, movedFrom }: FileChangeItem): [string, Unsaved] => {
    const last = seen.get(path);
    return [path, { path, change, movedFrom, at: last?.at ?? "", seq: last?.seq ?? 0 }];
  };
  return new Map((listed?.changes ?? []).map(unsaved));
}

/** A value that follows another, at once and then not more often than every pause. */
function useSettled<T>(value: T): T {
  const [held, setHeld] = useState({ value, at: -Infinity });
  useEffect(() => {
    if (held.value === value) return undefined;
    const wait = Math.max(0, held.at + PAUSE_MS - performance.now());
    const timer = setTimeout(() => setHeld({ value, at: performance.now() }), wait);
    return () => clearTimeout(timer);
  }, [value, held]);
  return held.value;
}
