import { useEarlier, type Block } from "@warren/react";
import { memo, useMemo } from "react";
import { visible } from "~/lib/ansi";
import { plural } from "~/lib/format";
import { useOpened } from "~/lib/opened";
import { Button } from "~/ui/Button";
import { Dot, type State } from "~/ui/Dot";
import { Icon } from "~/ui/Icon";
import { useChat, useThreadBlocks } from "./context";
import { took } from "./took";
import { brief, lineOf, outcomeOf } from "./tools";

type Subagent = Extract<Block, { type: "subagent" }>;

/** More steps than this are shortened to the first and the last four. */
const MANY = 6;

/** A subagent's thread in the conversation that called it; it opens in place or beside. */
export const SubagentCard = memo(function SubagentCard({ block, live }: { block: Subagent; live: boolean }) {
  const chat = useChat();
  const blocks = useThreadBlocks(block.subagentId);
  const running = live && (block.status === "running" || block.status === "pending");
  const waits = running && chat.waitingIn.has(block.subagentId);
  const failed = block.status === "error";
  const [open, setOpen] = useOpened(block.id, running || failed);
  const state: State | null = waits ? "wait" : running ? "run" : failed ? "fail" : null;
  const name = visible(block.name ?? "Subagent");
  const steps = useMemo(() => stepsOf(blocks), [blocks]);
  const { hasEarlier } = useEarlier(chat.store.sessionId, block.subagentId);
  const report = lastSentence(block.output);
  return (
    <div className="step">
      <i className="branch" aria-hidden="true" />
      <span className="node rg0 acc tall">
        <Icon name="fork" />
      </span>
      <details className="subag" open={open} onToggle={(event) => setOpen(event.currentTarget.open)}>
        <summary>
          <b>{name}</b>
          <span className="cut sub" dir="auto">{visible(brief(block.input))}</span>
          <span className="grow" />
          <span className="num muted sub-meta">{[hasEarlier ? `${steps.length}+ steps` : plural(steps.length, "step"), block.durationMs == null ? null : took(block.durationMs)].filter(Boolean).join(" · ")}</span>
          <span className="tail">{state && <Dot state={state} />}</span>
          <Icon name="right" size="xs" className="chev" />
        </summary>
        {open && (
          <div className="thread">
            {shortened(steps, hasEarlier).map((step) => (
              <div key={step.key} className="step" dir="auto">
                <span className="node dt" />
                {step.text}
              </div>
            ))}
            {waits && (
              <div className="step">
                <span className="node wt" />
                <span className="asks">Waiting for your answer below</span>
              </div>
            )}
          </div>
        )}
        {!open && report && <p className="sub-last cut" dir="auto">{visible(report)}</p>}
      </details>
      <Button className="beside" icon="beside" aria-label={`Open ${name} beside`} title="Open beside" onClick={() => chat.openBeside(block.subagentId)} />
    </div>
  );
});

interface ShortStep {
  key: string;
  text: string;
}

/** A thread as one line a step. */
function stepsOf(blocks: readonly Block[]): ShortStep[] {
  const results = new Map(blocks.flatMap((block) => (block.type === "tool_result" ? [[block.toolUseId, block] as const] : [])));
  return blocks.flatMap((block): ShortStep[] => {
    if (block.type === "tool_use") {
      const line = lineOf(block);
      const result = results.get(block.toolUseId);
      const outcome = result ? outcomeOf(line.kind, result.output, result.isError) : "";
      return [{ key: block.id, text: visible([line.verb, line.object, outcome && `· ${outcome}`].filter(Boolean).join(" ")) }];
    }
    if (block.type === "assistant_text" && block.content.trim()) return [{ key: block.id, text: visible(block.content.trim().slice(0, 600)) }];
    if (block.type === "subagent") return [{ key: block.id, text: `${visible(block.name ?? "Subagent")}: ${visible(brief(block.input))}` }];
    if (block.type === "error") return [{ key: block.id, text: visible(block.message) }];
    return [];
  });
}

function shortened(steps: ShortStep[], hasEarlier: boolean): ShortStep[] {
  if (hasEarlier) return [{ key: "more", text: "… earlier steps" }, ...steps.slice(1 - MANY)];
  if (steps.length <= MANY) return steps;
  return [steps[0]!, { key: "more", text: `… ${plural(steps.length - 5, "step")}` }, ...steps.slice(-4)];
}

function lastSentence(output: unknown): string {
  return brief(output).split(/(?<=[.!?])\s+/).filter(Boolean).at(-1) ?? "";
}
