/** A message as its parts. Agents write attachments into the text in their own words; here they are attachments again. Pure. */
import type { Block } from "@warren/react";

type Content = Extract<Block, { type: "user_message" }>["content"];
export type Part = Exclude<Content, string>[number];

/** As `Content::to_text` in crates/domain names a file. */
const FILE = /\[file (\/?user-input\/[^\]\n]+)\]/g;

export function partsOf(content: Content): Part[] {
  const parts: readonly Part[] = typeof content === "string" ? [{ text: content }] : content;
  return parts.flatMap((part): Part[] => {
    if (!("text" in part)) return [part];
    const files = [...part.text.matchAll(FILE)].map((found) => ({ file: found[1]! }));
    if (!files.length) return [part];
    const text = part.text.replace(FILE, "").replace(/\n{3,}/g, "\n\n").trim();
    return [...(text ? [{ text }] : []), ...files];
  });
}

/** What a file is, by its name. */
export function kindOfFile(path: string): string {
  const extension = /\.([a-z0-9]{1,5})$/i.exec(path)?.[1]?.toUpperCase();
  return extension ? `${extension} file` : "File";
}
