// What a person does to files: each is done by the server, then the tree, what is open and what is unsaved follow.
import { useWarrenClient, WarrenError, type FileEntry } from "@warren/react";
import { useMemo, useState } from "react";
import { toast } from "~/ui/toasts";
import { dropEditsIn, moveEdits } from "./edits";
import { folderOf, nameOf, targetOf, within } from "./names";
import { changePlace, movedPlace } from "./place";

export type FileActs = ReturnType<typeof useFileActs>["acts"];

export function useFileActs(sessionId: string) {
  const client = useWarrenClient();
  const [round, setRound] = useState(0);
  const acts = useMemo(() => {
    const done = () => setRound((old) => old + 1);
    const opened = (folder: string) => changePlace(sessionId, ({ open }) => ({ open: folder === "" ? open : new Set([...open, ...upTo(folder)]) }));
    return {
      createFile: async (folder: string, name: string) => {
        const path = within(folder, name);
        await client.createFile(sessionId, path, new Blob([])).catch(told(`“${name}” already exists here.`));
        opened(folderOf(path));
        changePlace(sessionId, () => ({ chosen: path }));
        done();
        return path;
      },
      createFolder: async (folder: string, name: string) => {
        const path = within(folder, name);
        await client.makeDirectory(sessionId, path);
        opened(path);
        done();
        return path;
      },
      move: async (from: string, to: string) => {
        await client.moveFile(sessionId, from, to).catch(told(`“${nameOf(to)}” already exists there.`));
        moveEdits(sessionId, from, to);
        changePlace(sessionId, (place) => movedPlace(place, from, to));
        opened(folderOf(to));
        done();
        return to;
      },
      /** A file is removed only if nobody wrote it since it was listed. */
      remove: async (entry: FileEntry) => {
        const etag = entry.kind === "file" ? entry.etag : undefined;
        await client.removeFile(sessionId, entry.path, etag).catch((error: unknown) => {
          done();
          if (error instanceof WarrenError && error.status === 412) throw new Error("The file changed in the meantime, so it was not deleted. Check it, or delete it now.");
          // Somebody else was faster: it is gone, which is what was wanted.
          if (!(error instanceof WarrenError && error.status === 404)) throw error;
        });
        dropEditsIn(sessionId, entry.path);
        changePlace(sessionId, (place) => movedPlace(place, entry.path, null));
        done();
      },
      refresh: done,
    };
  }, [client, sessionId]);
  return { acts, round };
}

/** Moves what was dropped on a folder, and says how it ended. */
export async function dropOn(acts: FileActs, from: string, folder: string) {
  const to = targetOf(from, folder);
  if (to === null) return;
  try {
    await acts.move(from, to);
    toast({ title: `Moved ${nameOf(from)}`, text: folder === "" ? "It is in the workspace now." : `It is in ${folder} now.`, icon: "folder" });
  } catch (error) {
    toast({ title: `${nameOf(from)} was not moved`, text: error instanceof Error ? error.message : String(error), icon: "alert" });
  }
}

const told = (taken: string) => (error: unknown) => {
  throw error instanceof WarrenError && (error.status === 412 || error.code === "CONFLICT") ? new Error(taken) : error;
};

/** A folder and those above it. */
function upTo(folder: string): string[] {
  const names = folder.split("/");
  return names.map((_, at) => names.slice(0, at + 1).join("/")).filter((path) => path !== "");
}
