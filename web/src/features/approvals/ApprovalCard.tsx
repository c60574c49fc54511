import type { Approval, ApprovalRule } from "@warren/react";
import { memo, useMemo, useState } from "react";
import { exactly, visible } from "~/lib/ansi";
import { useNow } from "~/lib/clockwork";
import { toComposer } from "~/lib/focus";
import { clock, plural } from "~/lib/format";
import { Button } from "~/ui/Button";
import { Step } from "../chat/Step";
import { kindOf, type ToolKind } from "../chat/tools";
import { lettersAct } from "../shell/letters";
import { AskedFiles } from "./AskedFiles";
import { changesAsked, type Asked } from "./changes";
import { Resolved } from "./Resolved";
import { RuleForm } from "./RuleForm";
import { subjectOf } from "./questions";
import { useAnswer } from "./useAnswer";
import { useArming } from "./useArming";

export type Decision = "allow" | "allow_always" | "deny";
export type Answer = (approvalId: string, decision: Decision, more?: { message?: string; answers?: Record<string, string | string[]>; rule?: ApprovalRule }) => Promise<unknown>;

type Props = {
  approval: Approval;
  who: string;
  answer: Answer | null;
  /** Takes back the rule that its answer granted. */
  withdraw?: ((approvalId: string) => Promise<unknown>) | null;
};

const CONSEQUENCE: Record<string, string> = {
  permission: "“Allow once” runs exactly this call, inside the sandbox. “Deny” refuses it, and the agent continues.",
  egress: "This sandbox has no network. Allowing opens this host only, through the recording proxy.",
};

const ACTS: Partial<Record<ToolKind, string>> = { run: "run a command", edit: "edit a file", write: "write a file", read: "read a file", fetch: "fetch a page", search: "search" };

/** An agent asks for leave: who asks what, what follows, the exact command, and the answers. */
export const ApprovalCard = memo(function ApprovalCard({ approval, who, answer, withdraw }: Props) {
  const { busy, problem, run } = useAnswer((decision: Decision, more?: { message?: string; rule?: ApprovalRule }) =>
    answer ? answer(approval.approvalId, decision, more) : Promise.resolve(),
  );
  const [why, setWhy] = useState<string | null>(null);
  const [always, setAlways] = useState(false);
  const { armed, guard } = useArming(!approval.resolution && answer !== null);
  const answers = { "data-answers": "", "aria-disabled": !armed || busy };
  const asked = useMemo(() => changesAsked(approval.detail), [approval.detail]);
  if (approval.resolution) return <Resolved approval={approval} withdraw={withdraw} />;
  const { tool, exact, cwd, is } = subjectOf(approval.detail);
  const rules = approval.options.includes("allow_always") ? (approval.rules ?? []) : [];
  return (
    <Step icon="hand" look="warn">
      <div className="approve" role="group" aria-label="Approval request" data-approval={approval.approvalId} tabIndex={-1} {...guard}>
        <div className="hd">
          <b dir="auto">
            {who} {asksTo(approval, asked)}
          </b>
          <span className="grow" />
          <Waiting since={approval.requestedAt} />
        </div>
        <div className="bd">
          {CONSEQUENCE[approval.kind] ?? CONSEQUENCE.permission}
          {asked.files.length > 0 && is !== "command" ? <AskedFiles asked={asked} raw={exact} /> : exact && <pre className="cmd" dir="ltr" tabIndex={0} role="region" aria-label={is === "command" ? "Command" : "Input"}>{exactly(exact)}</pre>}
          <dl className="facts">
            <div><dt>Agent</dt><dd>{who}</dd></div>
            {tool && <div><dt>Tool</dt><dd className="mono">{exactly(tool)}</dd></div>}
            {approval.kind === "permission" && <div><dt>Directory</dt><dd className={cwd === null ? "" : "mono"}>{cwd === null ? "not given by the agent (it starts in the workspace)" : exactly(cwd)}</dd></div>}
          </dl>
        </div>
        {answer === null ? (
          <p className="tool-note">You have read-only access, so you cannot answer.</p>
        ) : always ? (
          <RuleForm rules={rules} isCommand={is === "command"} isFile={is === "file"} answers={answers} onGrant={(rule) => run("allow_always", { rule })} onCancel={() => { setAlways(false); toComposer(); }} />
        ) : why === null ? (
          <div className="ac">
            <Button look="ink" data-key="a" title="Runs this call only. The next one is asked again." {...answers} onClick={() => run("allow")}>Allow once</Button>
            {rules.length > 0 && <Button look="line" title="Choose a rule for calls that run without asking" onClick={() => setAlways(true)}>Always allow…</Button>}
            <Button look="line" data-key="d" title="Refuses the call. The agent continues without it." {...answers} onClick={() => run("deny")}>Deny</Button>
            <span className="grow" />
            <Button disabled={busy} onClick={() => setWhy("")}>Deny with a reason</Button>
            {lettersAct() && <KeyHint />}
          </div>
        ) : (
          <form
            className="ac"
            onSubmit={(event) => {
              event.preventDefault();
              run("deny", why.trim() ? { message: why.trim() } : undefined);
            }}
          >
            <input className="inp-line grow" autoFocus aria-label="Reason, for the agent" placeholder="Reason, for the agent" value={why} onChange={(event) => setWhy(event.target.value)} onKeyDown={(event) => event.key === "Escape" && setWhy(null)} />
            <Button type="submit" look="ink" {...answers}>Deny</Button>
            <Button look="line" onClick={() => setWhy(null)}>Cancel</Button>
          </form>
        )}
        {problem && <p className="tool-note bad" role="alert">{problem}</p>}
      </div>
    </Step>
  );
});

/** What is asked for, in the page's words where the tool is known, else in the agent's. */
function asksTo(approval: Approval, { files }: Asked): string {
  const { tool, is } = subjectOf(approval.detail);
  if (approval.kind === "egress") return `asks to reach ${visible(approval.title)}`;
  if (is !== "command" && files.length === 1) return `asks to ${files[0]!.act} ${visible(files[0]!.path)}`;
  if (is !== "command" && files.length > 1) return `asks to change ${new Set(files.map((file) => file.path)).size > 1 ? plural(new Set(files.map((file) => file.path)).size, "file") : visible(files[0]!.path)}`;
  const act = tool ? ACTS[kindOf(tool)] : undefined;
  return act ? `asks to ${act}` : `asks: ${visible(approval.title)}`;
}

/** Which keys act now: they do on the card alone, and on a button only its own. Styles show the part that holds. */
function KeyHint() {
  return (
    <p className="keyhint" aria-hidden="true">
      <span data-when="away"><kbd>Alt</kbd> <kbd>A</kbd> to answer with keys</span>
      <span data-when="card"><kbd>A</kbd> to allow once, <kbd>D</kbd> to deny</span>
      <span data-when="allow"><kbd>A</kbd> or <kbd>Enter</kbd> to allow once</span>
      <span data-when="deny"><kbd>D</kbd> or <kbd>Enter</kbd> to deny</span>
    </p>
  );
}

function Waiting({ since }: { since: string }) {
  const now = useNow();
  return <span className="muted num waits">waiting {clock(now - Date.parse(since))}</span>;
}
