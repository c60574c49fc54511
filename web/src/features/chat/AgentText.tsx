import type { Block } from "@warren/react";
import { memo } from "react";
import { Markdown } from "~/ui/Markdown";
import { MessageActions } from "./MessageActions";
import { Step } from "./Step";

/** What the agent says: bare prose on the page. */
export const AgentText = memo(function AgentText({ block, live }: { block: Extract<Block, { type: "assistant_text" }>; live: boolean }) {
  if (!live) {
    return (
      <Step>
        <div className="say">
          <Markdown text={block.content} />
        </div>
        <MessageActions at={block.timestamp} text={block.content} label="the agent’s message" />
      </Step>
    );
  }
  return (
    <Step node={<span className="node tip" />}>
      <div className="say">
        <Markdown text={block.content} tail={<span className="caret" aria-hidden="true" />} />
      </div>
    </Step>
  );
});
