import type { Approval } from "@warren/react";
import { memo, useState } from "react";
import { visible } from "~/lib/ansi";
import { useNow } from "~/lib/clockwork";
import { clock } from "~/lib/format";
import { Button } from "~/ui/Button";
import { Step } from "../chat/Step";
import { kindOf, type ToolKind } from "../chat/tools";
import { Resolved } from "./Resolved";
import { subjectOf } from "./questions";
import { useAnswer } from "./useAnswer";

export type Decision = "allow" | "allow_always" | "deny";
export type Answer = (approvalId: string, decision: Decision, more?: { message?: string; answers?: Record<string, string | string[]> }) => Promise<unknown>;

type Props = { approval: Approval; who: string; answer: Answer | null };

const CONSEQUENCE: Record<string, string> = {
  permission: "It waits for you. Allowing lets this one call happen inside its sandbox.",
  egress: "This sandbox has no network. Allowing opens this host only, through the recording proxy.",
};

const ACTS: Partial<Record<ToolKind, string>> = { run: "run a command", edit: "edit a file", write: "write a file", read: "read a file", fetch: "fetch a page", search: "search" };

/** An agent asks for leave: who asks what, what follows, the exact command, and the answers. */
export const ApprovalCard = memo(function ApprovalCard({ approval, who, answer }: Props) {
  const { busy, problem, run } = useAnswer((decision: Decision, message?: string) =>
    answer ? answer(approval.approvalId, decision, message ? { message } : undefined) : Promise.resolve(),
  );
  const [why, setWhy] = useState<string | null>(null);
  if (approval.resolution) return <Resolved approval={approval} />;
  const { exact } = subjectOf(approval.detail);
  const always = approval.options.includes("allow_always");
  return (
    <Step icon="hand" look="warn">
      <div className="approve" role="group" aria-label="Approval request" data-approval={approval.approvalId} tabIndex={-1}>
        <div className="hd">
          <b dir="auto">
            {who} {asksTo(approval)}
          </b>
          <span className="grow" />
          <Waiting since={approval.requestedAt} />
        </div>
        <div className="bd">
          {CONSEQUENCE[approval.kind] ?? CONSEQUENCE.permission}
          {exact && <div className="cmd" dir="ltr">{visible(exact)}</div>}
        </div>
        {answer === null ? (
          <p className="tool-note">Only members who may run can answer.</p>
        ) : why === null ? (
          <div className="ac">
            <Button look="ink" data-key="a" disabled={busy} onClick={() => run("allow")}>Allow once <kbd>A</kbd></Button>
            {always && <Button look="line" disabled={busy} onClick={() => run("allow_always")}>Allow in this session</Button>}
            <Button look="line" data-key="d" disabled={busy} onClick={() => run("deny")}>Deny <kbd>D</kbd></Button>
            <span className="grow" />
            <Button disabled={busy} onClick={() => setWhy("")}>Deny and say why</Button>
          </div>
        ) : (
          <form
            className="ac"
            onSubmit={(event) => {
              event.preventDefault();
              run("deny", why.trim() || undefined);
            }}
          >
            <input className="inp-line grow" autoFocus aria-label="Why not, for the agent" placeholder="Why not, for the agent" value={why} onChange={(event) => setWhy(event.target.value)} onKeyDown={(event) => event.key === "Escape" && setWhy(null)} />
            <Button type="submit" look="ink" disabled={busy}>Deny</Button>
            <Button look="line" onClick={() => setWhy(null)}>Cancel</Button>
          </form>
        )}
        {problem && <p className="tool-note bad" role="alert">{problem}</p>}
      </div>
    </Step>
  );
});

/** What is asked for, in the page's words where the tool is known, else in the agent's. */
function asksTo(approval: Approval): string {
  const { tool } = subjectOf(approval.detail);
  if (approval.kind === "egress") return `asks to reach ${visible(approval.title)}`;
  const act = tool ? ACTS[kindOf(tool)] : undefined;
  return act ? `asks to ${act}` : `asks: ${visible(approval.title)}`;
}

function Waiting({ since }: { since: string }) {
  const now = useNow();
  return <span className="muted num waits">waiting {clock(now - Date.parse(since))}</span>;
}
