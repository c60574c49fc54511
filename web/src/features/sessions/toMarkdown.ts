/** A session as Markdown: what was said and done, in order. Pure. */
import type { Block, RuntimeSessionData } from "@warren/react";
import { plainText } from "../composer/history";
import { commandOf, lineOf, outputText } from "../chat/tools";
import { nameOf } from "./families";

export function toMarkdown(session: RuntimeSessionData): string {
  const threads = new Map(session.subagents.map((thread) => [thread.id, thread.blocks]));
  const head = [`# ${nameOf(session)}`, `Agent: ${session.type} · version ${session.version} · ${new Date(session.createdAt).toISOString()}`];
  return `${[...head, ...blocksOf(session.blocks, threads, 2)].join("\n\n")}\n`;
}

function blocksOf(blocks: readonly Block[], threads: ReadonlyMap<string, readonly Block[]>, level: number): string[] {
  const heading = (text: string, block: Block) => `${"#".repeat(Math.min(6, level))} ${text} (${block.timestamp})`;
  return blocks.flatMap((block): string[] => {
    switch (block.type) {
      case "user_message":
        return [heading("You", block), plainText(block.content), ...filesOf(block.content)].filter(Boolean);
      case "assistant_text":
        return block.content.trim() ? [heading("Agent", block), block.content] : [];
      case "thinking":
        return block.content.trim() ? [quoted(`Thinking: ${block.content}`)] : [];
      case "tool_use": {
        const { verb, object } = lineOf(block);
        const command = commandOf(block.input);
        return [`**${verb}** ${command === null ? object : ""}`.trim(), ...(command === null ? [] : [fenced(command, "sh")])];
      }
      case "tool_result": {
        const text = outputText(block.output).trimEnd();
        return text ? [`${block.isError ? "Failed:" : "Output:"}`, fenced(text)] : [];
      }
      case "subagent":
        return [heading(`Subagent ${block.name ?? ""}`.trim(), block), ...blocksOf(threads.get(block.subagentId) ?? [], threads, level + 1)];
      case "system":
      case "error":
        return [quoted(block.message)];
      default:
        block satisfies never;
        return [];
    }
  });
}

function filesOf(content: Extract<Block, { type: "user_message" }>["content"]): string[] {
  if (typeof content === "string") return [];
  return content.flatMap((part) => ("file" in part ? [`Attached: \`${part.file}\``] : "image" in part ? ["Attached: a picture"] : []));
}

const quoted = (text: string): string => text.split("\n").map((line) => `> ${line}`).join("\n");

/** A code block whose fence is longer than any in the text. */
function fenced(text: string, language = ""): string {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map((run) => run[0].length));
  const fence = "`".repeat(longest + 1);
  return `${fence}${language}\n${text}\n${fence}`;
}
