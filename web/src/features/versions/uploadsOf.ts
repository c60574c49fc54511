// Which uploads a restore removes: a version has those that were there when it was saved.
import type { FileListing, WarrenClient } from "@warren/react";
import { FOLDER } from "../files/placing";

/** Uploads of the session that are not in a version, by name. Versions keep them, those that are not in one yet included: a restore saves them first. */
export async function uploadsLost(client: WarrenClient, sessionId: string, version: number): Promise<string[]> {
  const [now, then] = await Promise.all([
    filesIn((path) => client.files(sessionId, path)),
    filesIn((path) => client.versionFiles(sessionId, version, path)),
  ]);
  const kept = new Set(then);
  return now.filter((path) => !kept.has(path)).map((path) => path.slice(FOLDER.length + 1));
}

/** All files below the uploads' folder. */
async function filesIn(list: (path: string) => Promise<FileListing>): Promise<string[]> {
  const walk = async (path: string): Promise<string[]> => {
    const { entries } = await list(path);
    const parts = await Promise.all(entries.map((entry) => (entry.kind === "directory" ? walk(entry.path) : [entry.path])));
    return parts.flat();
  };
  return walk(FOLDER);
}
