import type { Block } from "@warren/react";
import { Icon } from "~/ui/Icon";
import type { IconName } from "~/ui/IconSprite";
import { Empty } from "~/ui/Notice";

const LOOK: Record<Block["type"], [IconName, string]> = {
  user_message: ["chat", "You"],
  assistant_text: ["chat", "Agent"],
  thinking: ["think", "Thought"],
  tool_use: ["term", "Tool"],
  tool_result: ["check", "Result"],
  system: ["gear", "System"],
  subagent: ["fork", "Subagent"],
  error: ["alert", "Error"],
};

/** What was said between two versions, one line a block. */
export function BlockList({ blocks }: { blocks: readonly Block[] }) {
  if (blocks.length === 0) return <Empty icon="chat">No messages between these versions.</Empty>;
  return (
    <ol className="blks">
      {blocks.map((block) => {
        const [icon, who] = LOOK[block.type] ?? ["list", block.type];
        return (
          <li key={block.id}>
            <Icon name={icon} size="s" />
            <b>{who}</b>
            <bdi>{textOf(block)}</bdi>
          </li>
        );
      })}
    </ol>
  );
}

function textOf(block: Block): string {
  switch (block.type) {
    case "user_message":
      return typeof block.content === "string" ? block.content : block.content.map((part) => ("text" in part ? part.text : "file")).join(" ");
    case "assistant_text":
    case "thinking":
      return block.content;
    case "tool_use":
      return `${block.displayName ?? block.toolName} ${block.description ?? JSON.stringify(block.input)}`;
    case "tool_result":
      return typeof block.output === "string" ? block.output : JSON.stringify(block.output);
    case "subagent":
      return block.name ?? block.subagentId;
    case "system":
    case "error":
      return block.message;
    default:
      return "";
  }
}
