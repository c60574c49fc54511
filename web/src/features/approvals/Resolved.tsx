import type { Approval } from "@warren/react";
import { visible } from "~/lib/ansi";
import { when } from "~/lib/format";
import { Step } from "../chat/Step";

const WORDS: Record<string, string> = {
  allow: "Allowed once",
  allow_always: "Allowed in this session",
  deny: "Denied",
  expired: "Nobody answered while it mattered",
};

/** An answer that was given: who, when, for how long. */
export function Resolved({ approval }: { approval: Approval }) {
  const { resolution } = approval;
  if (!resolution) return null;
  const answers = Object.values(resolution.answers ?? {}).flat().filter((answer) => typeof answer === "string");
  const word = answers.length ? "Answered" : (WORDS[resolution.decision] ?? resolution.decision);
  const by = ["run", "time", "agent"].includes(resolution.by) ? "" : resolution.by === "always" ? ", as you said for good" : ` by ${resolution.by}`;
  return (
    <Step icon={resolution.decision === "deny" ? "x" : resolution.decision === "expired" ? "clock" : "check"}>
      <div className="note muted" dir="auto">
        <span>
          {word}
          {by}, {when(resolution.at)}: {visible(answers.length ? answers.join(", ") : approval.title)}
          {resolution.message ? ` (“${visible(resolution.message)}”)` : ""}
        </span>
      </div>
    </Step>
  );
}
