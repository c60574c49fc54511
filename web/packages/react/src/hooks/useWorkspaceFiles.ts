import { useMemo } from "react";
import { useWarrenClient } from "../provider";
import { useLive } from "./live";
import { useResource } from "./useResource";

/** A folder of the workspace, live: read again when something in it changed. `changes` are those seen since loading. */
export function useWorkspaceFiles(sessionId: string, path: string = "") {
  const client = useWarrenClient();
  const changes = useLive(sessionId, ["files"], (store) => store.state.files.values());
  const latest = useMemo(() => changes.findLast((change) => parent(change.path) === path)?.seq ?? 0, [changes, path]);
  const folder = useResource(`files ${sessionId} ${path}`, () => client.files(sessionId, path), latest);
  const actions = useMemo(
    () => ({
      read: (file: string, signal?: AbortSignal) => client.readFile(sessionId, file, signal),
      write: (file: string, content: Blob, etag?: string) => client.writeFile(sessionId, file, content, etag),
      remove: (file: string) => client.removeFile(sessionId, file),
      upload: (files: readonly File[], into?: string) => client.upload(sessionId, files, into),
    }),
    [client, sessionId],
  );
  return { ...folder, entries: folder.data?.entries ?? [], changes, ...actions };
}

const parent = (path: string): string => path.split("/").slice(0, -1).join("/");
