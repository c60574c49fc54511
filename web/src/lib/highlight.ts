/** Code in colours. Grammars come from CodeMirror, are loaded when code of their language is first shown, and are those of the editor. */
import { useCallback, useSyncExternalStore } from "react";
import type { Piece } from "./ansi";

/** Cuts a text into pieces with one class each; together they are the text. */
export type Paint = (text: string) => Piece[];

const plain: Paint = (text) => (text === "" ? [] : [{ text, className: "" }]);
const known = new Map<string, Paint>();
const asked = new Set<string>();
const watchers = new Set<() => void>();

/** Names that have no grammar: nothing is loaded for them. */
const PLAIN = new Set(["", "txt", "text", "log", "csv", "tsv", "plain", "plaintext", "license"]);

/** The name of a file's language: its extension, else its whole name. */
export function languageOf(path: string): string {
  const name = path.split("/").at(-1) ?? "";
  return name.includes(".") ? (name.split(".").at(-1) ?? "").toLowerCase() : name;
}

/** Paints code of a language; as plain text until its grammar is there. */
export function useHighlighter(language: string): Paint {
  const subscribe = useCallback(
    (watcher: () => void) => {
      watchers.add(watcher);
      void load(language);
      return () => watchers.delete(watcher);
    },
    [language],
  );
  return useSyncExternalStore(subscribe, () => known.get(language)) ?? plain;
}

/** Loads the grammar of a language. A failure leaves the text plain, and the next use tries again. */
export async function load(language: string): Promise<Paint> {
  const there = known.get(language);
  if (there) return there;
  if (PLAIN.has(language.toLowerCase()) || asked.has(language)) return plain;
  asked.add(language);
  try {
    const { paintOf } = await import("./code/paint");
    const paint = (await paintOf(language)) ?? plain;
    known.set(language, paint);
    watchers.forEach((watcher) => watcher());
    return paint;
  } catch {
    asked.delete(language);
    return plain;
  }
}

/** Pieces line by line, without the line ends. */
export function byLine(pieces: readonly Piece[]): Piece[][] {
  const lines: Piece[][] = [[]];
  for (const piece of pieces) {
    piece.text.split("\n").forEach((text, at) => {
      if (at > 0) lines.push([]);
      if (text) lines.at(-1)?.push({ text, className: piece.className });
    });
  }
  return lines;
}

/** The part of a line's pieces between two characters. */
export function between(pieces: readonly Piece[], from: number, to: number): Piece[] {
  const out: Piece[] = [];
  let at = 0;
  for (const { text, className } of pieces) {
    const part = text.slice(Math.max(0, from - at), Math.max(0, to - at));
    if (part) out.push({ text: part, className });
    at += text.length;
  }
  return out;
}
