import { useResource, useWarrenClient } from "@warren/react";
import { plural } from "~/lib/format";
import { agentName } from "~/ui/AgentMark";
import { Button } from "~/ui/Button";
import { Icon } from "~/ui/Icon";
import { Skeleton, Unread } from "~/ui/Notice";
import { inWords } from "../shell/isolation";
import { answers, findingsOf, formatName, type Findings } from "./doctor";

/** What this machine can give its sandboxes, and what would make it better. */
export function DoctorBox() {
  const client = useWarrenClient();
  const answer = useResource("doctor", () => client.doctor());
  const found = answer.data && findingsOf(answer.data);
  return (
    <div className="box" id="doctor">
      <div className="h">
        <h2 className="grow">Doctor</h2>
        {found && !found.usable && <span className="chip bad">No sandbox can start</span>}
        {found?.usable && found.hints.length > 0 && <span className="chip warn">{plural(found.hints.length, "warning")}</span>}
        <Button icon="reload" aria-label="Check again" onClick={() => void answer.refresh()} />
      </div>
      {answer.state === "loading" && <Skeleton rows={3} height={38} />}
      {answer.state === "failed" && !found && <Unread title="The machine could not be checked" error={answer.error} onAgain={answer.refresh} />}
      {found && <Report found={found} />}
    </div>
  );
}

function Report({ found }: { found: Findings }) {
  const { usable, guards, hints, models } = found;
  const client = useWarrenClient();
  const agents = useResource("agents", () => client.agents());
  const ready = (agents.data?.agents ?? []).filter((agent) => agent.isAgent && agent.ready);
  return (
    <ul className="al doc">
      <li><Icon name={usable ? "check" : "x"} size="s" className={usable ? "ok" : "no"} />{usable ? inWords(guards) : "A sandbox could not be started"}<span className="rt">{found.program}</span></li>
      {guards.map((guard) => <li key={guard.name} className="guard"><Icon name={guard.state === "on" ? "check" : "alert"} size="s" className={guard.state === "on" ? "ok" : "wr"} />{guard.name}<span className="rt">{guard.words}</span></li>)}
      {hints.map((hint) => <li key={hint.problem}><Icon name="alert" size="s" className="wr" /><span className="advice"><span>{hint.problem}</span><small className="muted">Fix: {hint.hint}</small></span></li>)}
      {models.map((model) => <li key={model.format} className="guard"><Icon name={model.target === "demo" ? "alert" : "check"} size="s" className={model.target === "demo" ? "wr" : "ok"} />Model calls, {formatName(model.format)}<span className="rt">{answers(model)}</span></li>)}
      {ready.length > 0 && <li className="guard"><Icon name="check" size="s" className="ok" />Agents installed<span className="rt">{ready.map((agent) => agentName(agent.name)).join(", ")}</span></li>}
    </ul>
  );
}
