import type { Block } from "@warren/react";
import { memo } from "react";
import { useNow } from "~/lib/clockwork";
import { useOpened } from "~/lib/opened";
import { Icon } from "~/ui/Icon";
import { Markdown } from "~/ui/Markdown";
import { Step } from "./Step";
import { timeOf } from "./rows";

type Props = { block: Extract<Block, { type: "thinking" }>; until: number | null; live: boolean };

/** A thought: closed until somebody wants it. */
export const Thinking = memo(function Thinking({ block, until, live }: Props) {
  const [open, setOpen] = useOpened(block.id, false);
  const now = useNow(live);
  const seconds = Math.max(1, Math.round(((live ? now : (until ?? timeOf(block))) - timeOf(block)) / 1000));
  return (
    <Step icon="think" look={live ? "run" : ""}>
      <details className="think" open={open} onToggle={(event) => setOpen(event.currentTarget.open)}>
        <summary className="num">
          {live ? `Thinking… ${seconds} s` : `Thought for ${seconds} s`} <Icon name="right" size="xs" className="chev" />
        </summary>
        {open && (
          <div className="tx">
            <Markdown text={block.content || block.summary || "This agent does not show its thinking."} />
          </div>
        )}
      </details>
    </Step>
  );
});
