import type { Approval } from "@warren/react";
import { visible } from "~/lib/ansi";
import { when } from "~/lib/format";
import { Step } from "../chat/Step";
import { Button } from "~/ui/Button";
import { lineOf } from "./rules";
import { useAnswer } from "./useAnswer";

const WORDS: Record<string, string> = {
  allow: "Allowed once",
  allow_always: "Always allowed in this session",
  deny: "Denied",
  expired: "Expired without an answer",
};

/** An answer that was given: who, when, for how long. */
export function Resolved({ approval, withdraw }: { approval: Approval; withdraw?: ((approvalId: string) => Promise<unknown>) | null }) {
  const { busy, problem, run } = useAnswer(() => withdraw?.(approval.approvalId) ?? Promise.resolve());
  const { resolution } = approval;
  if (!resolution) return null;
  const answers = Object.values(resolution.answers ?? {}).flat().filter((answer) => typeof answer === "string");
  const isCut = resolution.decision === "expired" && resolution.by === "run";
  const word = answers.length ? "Answered" : isCut ? "Not answered before the run ended" : (WORDS[resolution.decision] ?? resolution.decision);
  const by = ["run", "time", "agent"].includes(resolution.by) ? "" : resolution.by === "always" ? ", by an earlier answer" : resolution.by === "rule" ? " by a rule of this session" : ` by ${resolution.by}`;
  return (
    <Step icon={resolution.decision === "deny" ? "x" : resolution.decision === "expired" ? "clock" : "check"}>
      <div className="note muted" dir="auto">
        <span>
          {word}
          {by}, {when(resolution.at)}: {visible(answers.length ? answers.join(", ") : approval.title)}
          {resolution.rule ? ` (rule: ${lineOf(resolution.rule)})` : ""}
          {resolution.message ? ` (“${visible(resolution.message)}”)` : ""}
        </span>
        {withdraw && resolution.decision === "allow_always" && resolution.rule && <Button look="line" disabled={busy} title="From now on the agent asks again" onClick={() => run()}>Withdraw the rule</Button>}
        {problem && <span className="bad" role="alert">{problem}</span>}
      </div>
    </Step>
  );
}
