import type { Block } from "@warren/react";
import { memo } from "react";
import { Markdown } from "~/ui/Markdown";
import { Step } from "./Step";

/** What the agent says: bare prose on the page. */
export const AgentText = memo(function AgentText({ block, live }: { block: Extract<Block, { type: "assistant_text" }>; live: boolean }) {
  if (!live) {
    return (
      <Step className="say">
        <Markdown text={block.content} />
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
