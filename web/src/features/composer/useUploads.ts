import type { WarrenClient } from "@warren/react";
import type { ClipboardEvent, DragEvent } from "react";
import { sendAgain } from "../files/sendAgain";
import type { Draft, Upload } from "./useDraft";

let lastId = 0;
/** Files whose upload did not end well, until they are sent again or removed. */
const waiting = new Map<number, File>();

/** Puts files into a session as they are dropped, pasted or chosen. Each is sent alone, so that one may fail alone. */
export function useUploads(client: WarrenClient, sessionId: string, change: (change: (draft: Draft) => Draft) => void) {
  const set = (id: number, news: Partial<Upload>) =>
    change((draft) => ({ ...draft, uploads: draft.uploads.map((upload) => (upload.id === id ? { ...upload, ...news } : upload)) }));
  const send = (id: number, file: File, sent: Promise<string>) => {
    waiting.set(id, file);
    sent.then(
      (path) => {
        waiting.delete(id);
        set(id, { state: "done", path, why: undefined });
      },
      (error: unknown) => set(id, { state: "failed", why: error instanceof Error ? error.message : String(error) }),
    );
  };
  const add = (files: readonly File[]) => {
    for (const file of files) {
      const id = ++lastId;
      change((draft) => ({ ...draft, uploads: [...draft.uploads, { id, name: file.name, sizeBytes: file.size, state: "uploading" }] }));
      send(id, file, client.upload(sessionId, [file]).then((answer) => answer.files[0]?.path ?? file.name));
    }
  };
  const again = (id: number) => {
    const file = waiting.get(id);
    if (!file) return;
    set(id, { state: "uploading", why: undefined });
    send(id, file, sendAgain(client, sessionId, file));
  };
  const remove = (id: number) => {
    waiting.delete(id);
    change((draft) => ({ ...draft, uploads: draft.uploads.filter((upload) => upload.id !== id) }));
  };
  return {
    add,
    again,
    remove,
    onPaste: (event: ClipboardEvent) => {
      const files = [...event.clipboardData.files];
      if (!files.length) return;
      event.preventDefault();
      add(files);
    },
    onDragOver: (event: DragEvent) => event.dataTransfer.types.includes("Files") && event.preventDefault(),
    onDrop: (event: DragEvent) => {
      if (!event.dataTransfer.files.length) return;
      event.preventDefault();
      add([...event.dataTransfer.files]);
    },
  };
}
