import type { WarrenClient } from "@warren/react";
import type { ClipboardEvent, DragEvent } from "react";
import type { Draft, Upload } from "./useDraft";

let lastId = 0;

/** Puts files into a session as they are dropped, pasted or chosen. Each is sent alone, so that one may fail alone. */
export function useUploads(client: WarrenClient, sessionId: string, change: (change: (draft: Draft) => Draft) => void) {
  const set = (id: number, news: Partial<Upload>) =>
    change((draft) => ({ ...draft, uploads: draft.uploads.map((upload) => (upload.id === id ? { ...upload, ...news } : upload)) }));
  const add = (files: readonly File[]) => {
    for (const file of files) {
      const id = ++lastId;
      change((draft) => ({ ...draft, uploads: [...draft.uploads, { id, name: file.name, sizeBytes: file.size, state: "uploading" }] }));
      client.upload(sessionId, [file]).then(
        (answer) => set(id, { state: "done", path: answer.files[0]?.path ?? file.name }),
        (error: unknown) => set(id, { state: "failed", why: error instanceof Error ? error.message : String(error) }),
      );
    }
  };
  const remove = (id: number) => change((draft) => ({ ...draft, uploads: draft.uploads.filter((upload) => upload.id !== id) }));
  return {
    add,
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
