// Whether the file that a person has open is there no more. Pure.
import type { FileEntry, FileNews } from "@warren/react";
import { FOLDER } from "./placing";
import type { Unsaved } from "./unsaved";

/** Whether a file was removed, by the agent, by a restore, or by somebody else. Not asked for then, and shown again when it is back. */
export function hasGone(path: string, news: readonly FileNews[], unsaved: ReadonlyMap<string, Unsaved>, uploads: readonly FileEntry[] | undefined): boolean {
  if (!path.startsWith(`${FOLDER}/`)) return (news.find((one) => one.path === path) ?? unsaved.get(path))?.change === "deleted";
  const [name] = path.slice(FOLDER.length + 1).split("/");
  return uploads !== undefined && !uploads.some((entry) => entry.name === name);
}
