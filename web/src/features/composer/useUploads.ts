import type { WarrenClient } from "@warren/react";
import type { ClipboardEvent } from "react";
import { placeAgain, placeNew, placeOver, renamed, Taken, type Choice } from "../files/placing";
import type { Draft, Upload } from "./useDraft";

let lastId = 0;

type Sending = { file: File; isReplacing: boolean };
/** Files whose upload did not end well, until they are sent again or removed, and how they are to go. */
const waiting = new Map<number, Sending>();

/** Puts files into a session as they are dropped, pasted or chosen. Each is sent alone, so that one may fail alone. */
export function useUploads(client: WarrenClient, sessionId: string, change: (change: (draft: Draft) => Draft) => void) {
  const set = (id: number, news: Partial<Upload>) =>
    change((draft) => ({ ...draft, uploads: draft.uploads.map((upload) => (upload.id === id ? { ...upload, ...news } : upload)) }));
  const done = (id: number, path: string) => {
    waiting.delete(id);
    // One that lay at this path was replaced: two attachments of one file would say that there are two.
    change((draft) => ({
      ...draft,
      uploads: draft.uploads.filter((upload) => upload.id === id || upload.path !== path).map((upload) => (upload.id === id ? { ...upload, state: "done", path, why: undefined } : upload)),
    }));
  };
  const failed = (id: number, error: unknown) =>
    set(id, error instanceof Taken ? { state: "taken", why: error.message } : { state: "failed", why: error instanceof Error ? error.message : String(error) });
  const send = async (id: number, sending: Sending, place: typeof placeNew) => {
    waiting.set(id, sending);
    set(id, { state: "uploading", name: sending.file.name, why: undefined });
    await place(client, sessionId, sending.file).then((path) => done(id, path), (error: unknown) => failed(id, error));
  };
  const add = (files: readonly File[]) => {
    for (const file of files) {
      const id = ++lastId;
      change((draft) => ({ ...draft, uploads: [...draft.uploads, { id, name: file.name, sizeBytes: file.size, state: "uploading" }] }));
      void send(id, { file, isReplacing: false }, placeNew);
    }
  };
  const again = (id: number) => {
    const sending = waiting.get(id);
    // To replace a file twice with the same bytes is to replace it once.
    if (sending) void send(id, sending, sending.isReplacing ? placeOver : placeAgain);
  };
  const keepBoth = async (id: number, file: File, names: readonly string[]) => {
    set(id, { state: "uploading", why: undefined });
    try {
      await send(id, { file: await renamed(client, sessionId, file, names), isReplacing: false }, placeNew);
    } catch (error) {
      // The names that are taken could not be read: what to do with it is still open.
      set(id, { state: "taken", why: error instanceof Error ? error.message : String(error) });
    }
  };
  const choose = (id: number, choice: Choice, names: readonly string[]) => {
    const file = waiting.get(id)?.file;
    if (!file) return;
    if (choice === "replace") void send(id, { file, isReplacing: true }, placeOver);
    else void keepBoth(id, file, names);
  };
  const remove = (id: number) => {
    waiting.delete(id);
    change((draft) => ({ ...draft, uploads: draft.uploads.filter((upload) => upload.id !== id) }));
  };
  return {
    add,
    again,
    choose,
    remove,
    onPaste: (event: ClipboardEvent) => {
      const files = [...event.clipboardData.files];
      if (!files.length) return;
      event.preventDefault();
      add(files);
    },
  };
}
