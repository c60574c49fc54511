// Why a file that differs has no lines to show, and what else of it changed. Pure.
import type { FileDiff } from "@warren/react";
import { bytes } from "~/lib/format";

const octal = (mode: number): string => (mode & 0o777).toString(8).padStart(3, "0");

/** `644 → 755`, if permissions changed. */
export function modeChange({ before, after }: FileDiff): string | null {
  if (before?.mode === undefined || after?.mode === undefined || before.mode === after.mode) return null;
  return `${octal(before.mode)} → ${octal(after.mode)}`;
}

/** What happened, in a sentence, for a file without lines. */
export function explain(file: FileDiff): { title: string; text: string } {
  const { before, after, change } = file;
  const mode = modeChange(file);
  const sizes = before && after ? `${bytes(before.sizeBytes)} before, ${bytes(after.sizeBytes)} after` : bytes((after ?? before)?.sizeBytes ?? 0);
  const verb = { added: "added", removed: "removed", changed: "changed" }[change];
  if (file.kind === "directory") return { title: `Folder ${verb}`, text: mode ? `Permissions changed: ${mode}.` : "It has no files of its own in this comparison." };
  if (file.binary) return { title: `Binary file ${verb}`, text: `It is not text, so there are no lines to compare. ${sizes}.` };
  if (before && after && before.hash !== undefined && before.hash === after.hash) {
    return { title: mode ? "Only permissions changed" : "Same content", text: mode ? `Mode ${mode}. The content is the same.` : "Same content. Its type or modification time changed." };
  }
  if ((after ?? before)?.sizeBytes === 0) return { title: `Empty file ${verb}`, text: "It has no lines." };
  if (file.truncated) return { title: "Too large to compare", text: `Files over 512 KB are not compared line by line. ${sizes}.` };
  return { title: `File ${verb}`, text: sizes };
}
