import { useMemo, useRef } from "react";
import type { FileNews, VersionNews } from "../core/state";
import type { FileListing } from "../wire/contract";
import { useWarrenClient } from "../provider";
import { useLive } from "./live";
import { useResource } from "./useResource";

/**
 * A folder of the workspace, live: read again when something in it changed, or `again` is another. `changes` are those seen
 * since loading.
 */
export function useWorkspaceFiles(sessionId: string, path: string = "", again: string | number = 0) {
  const client = useWarrenClient();
  const changes = useLive(sessionId, ["files"], (store) => store.state.files.values());
  const versions = useLive(sessionId, ["versions"], (store) => store.state.versions.values());
  const stamp = useMemo(() => `${importOf(versions)} ${stampOf(changes, path)} ${again}`, [versions, changes, path, again]);
  const last = useRef<FileListing | null>(null);
  const read = async () => {
    // A folder that lost all it had is perhaps gone itself: its parent is read too, and says so.
    const isEmptied = path !== "" && last.current !== null && lostAll(last.current, changes);
    last.current = isEmptied ? { ...last.current!, entries: [] } : await client.files(sessionId, path);
    return last.current;
  };
  const folder = useResource(`files ${sessionId} ${path}`, read, stamp);
  const actions = useMemo(
    () => ({
      read: (file: string, signal?: AbortSignal) => client.readFile(sessionId, file, signal),
      write: (file: string, content: Blob, etag?: string) => client.writeFile(sessionId, file, content, etag),
      create: (file: string, content: Blob) => client.createFile(sessionId, file, content),
      remove: (file: string, etag?: string) => client.removeFile(sessionId, file, etag),
      move: (from: string, to: string, etag?: string) => client.moveFile(sessionId, from, to, etag),
      makeDirectory: (folder: string) => client.makeDirectory(sessionId, folder),
      upload: (files: readonly File[], into?: string) => client.upload(sessionId, files, into),
      importArchive: (archive: Blob) => client.importArchive(sessionId, archive),
    }),
    [client, sessionId],
  );
  return { ...folder, entries: folder.data?.entries ?? [], changes, ...actions };
}

/** The last version that brought files of its own, by an import or a restore: the log tells of them, or of uploads, by the version alone. */
export function importOf(versions: readonly VersionNews[]): number {
  return versions.reduce((last, { version, cause }) => (cause === "import" || cause === "restore" ? Math.max(last, version) : last), 0);
}

/** Whether everything that was listed in a folder was deleted since then, and nothing came. */
export function lostAll({ path, entries }: FileListing, changes: readonly FileNews[]): boolean {
  const below = changes.filter((change) => change.path.startsWith(`${path}/`));
  const deleted = new Set(below.filter((change) => change.change === "deleted").map((change) => change.path));
  return entries.length > 0 && below.length === deleted.size && entries.every((entry) => deleted.has(entry.path));
}

/**
 * Differs when the folder's own entries may differ: something directly in it changed, a folder in it appeared with a
 * file somewhere below, or something below was deleted, perhaps a folder with it. Other changes below are not its own.
 */
export function stampOf(changes: readonly FileNews[], path: string): string {
  const prefix = path === "" ? "" : `${path}/`;
  const folders = new Set<string>();
  let [direct, deleted] = [0, 0];
  for (const change of changes) {
    if (!change.path.startsWith(prefix)) continue;
    const [name = "", ...below] = change.path.slice(prefix.length).split("/");
    if (below.length === 0) direct = Math.max(direct, change.seq);
    else if (change.change === "deleted") deleted = Math.max(deleted, change.seq);
    else folders.add(name);
  }
  return [direct, deleted, ...[...folders].sort()].join("/");
}
