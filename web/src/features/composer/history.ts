/** Earlier prompts, recalled with the arrow keys as in a shell. Pure. */
import type { Block, Content } from "@warren/react";

/** The texts that were sent, oldest first, without repetitions in a row. */
export function promptsOf(blocks: readonly Block[]): string[] {
  const texts = blocks.flatMap((block) => (block.type === "user_message" ? [plainText(block.content)] : [])).filter((text) => text.trim());
  return texts.filter((text, at) => text !== texts[at - 1]);
}

/** The text of a message without its files. */
export function plainText(content: Content): string {
  if (typeof content === "string") return content;
  return content.flatMap((part) => ("text" in part ? [part.text] : [])).join("\n");
}

/** What Up or Down shows: `at` counts back from the newest, `null` is what the person was writing. */
export function recalled(prompts: readonly string[], at: number | null, by: 1 | -1): { at: number | null; text: string | null } {
  const next = (at ?? 0) + by;
  if (next <= 0) return { at: null, text: at === null ? null : "" };
  if (next > prompts.length) return { at, text: null };
  return { at: next, text: prompts[prompts.length - next] ?? null };
}
