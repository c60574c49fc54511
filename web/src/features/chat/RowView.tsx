import { memo } from "react";
import { ApprovalCard } from "../approvals/ApprovalCard";
import { QuestionCard } from "../approvals/QuestionCard";
import { AgentText } from "./AgentText";
import { useChat } from "./context";
import type { MarkValue, PageRow } from "./marks";
import { BootSteps, ErrorLine, Forgotten, Retrying, RunEnded, SavedLine, SystemLine } from "./Notices";
import { Made } from "./Made";
import { Plan } from "./Plan";
import { Reads } from "./Reads";
import { SubagentCard } from "./SubagentCard";
import { Thinking } from "./Thinking";
import { ToolCard } from "./ToolCard";
import { Unsent } from "./Unsent";
import { UserMessage } from "./UserMessage";

type Props = { row: PageRow; live: boolean; last: boolean };

/** One row, by its kind. */
export const RowView = memo(function RowView({ row, live, last }: Props) {
  switch (row.kind) {
    case "user":
      return <UserMessage content={row.block.content} id={row.block.id} at={row.block.timestamp} />;
    case "text":
      return <AgentText block={row.block} live={live && last} />;
    case "thinking":
      return <Thinking block={row.block} until={row.until} live={live && last} />;
    case "tool":
      return <ToolCard tool={row.tool} live={live} />;
    case "reads":
      return <Reads tools={row.tools} />;
    case "plan":
      return <Plan id={row.key} steps={row.steps} latest={row.latest} live={live} />;
    case "subagent":
      return <SubagentCard block={row.block} live={live} />;
    case "system":
      return <SystemLine block={row.block} />;
    case "error":
      return <ErrorLine block={row.block} />;
    case "mark":
      return <MarkView value={row.mark.value} />;
  }
});

function MarkView({ value }: { value: MarkValue }) {
  const chat = useChat();
  switch (value.is) {
    case "approval": {
      const { approval } = value;
      if (approval.kind === "question") return <QuestionCard approval={approval} answer={chat.answer} />;
      return <ApprovalCard approval={approval} who={chat.nameOf(approval.conversationId)} answer={chat.answer} withdraw={chat.withdraw} />;
    }
    case "saved":
      return <SavedLine saved={value} onDiff={() => chat.openDiff(value.version)} onFork={chat.fork && (() => chat.fork?.(value.version))} />;
    case "made":
      return <Made things={value.things} onOpen={chat.openArtifact} />;
    case "ended":
      return <RunEnded ended={value} latest={value.isLatest} onContinue={chat.again} onBack={chat.back && (() => chat.back?.(value.version))} />;
    case "forgotten":
      return <Forgotten restored={value.restored} />;
    case "boot":
      return <BootSteps boot={value} agent={chat.agentName} />;
    case "retrying":
      return <Retrying {...value} />;
    case "unsent":
      return <Unsent message={value.message} />;
  }
}
