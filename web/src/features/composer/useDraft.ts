// What a person wrote and did not send yet, by session; kept for this browser tab.
import { useState } from "react";

export interface Upload {
  id: number;
  name: string;
  sizeBytes: number;
  /** `taken`: a file of its name is there, and a person has to say which one stays. */
  state: "uploading" | "done" | "failed" | "taken";
  path?: string;
  why?: string | undefined;
}

export interface Draft {
  text: string;
  uploads: readonly Upload[];
}

const EMPTY: Draft = { text: "", uploads: [] };
const drafts = new Map<string, Draft>();

/** The draft of a session, and how to change it. */
export function useDraft(id: string): [Draft, (change: (draft: Draft) => Draft) => void] {
  const [, draw] = useState(0);
  return [
    drafts.get(id) ?? EMPTY,
    (change) => {
      const next = change(drafts.get(id) ?? EMPTY);
      if (next.text === "" && next.uploads.length === 0) drafts.delete(id);
      else drafts.set(id, next);
      draw((n) => n + 1);
    },
  ];
}
