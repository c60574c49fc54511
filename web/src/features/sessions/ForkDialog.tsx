import { useResource, useWarrenClient, type SessionListItem } from "@warren/react";
import { useState } from "react";
import { said } from "~/lib/problem";
import { navigate, sessionPath } from "~/lib/router";
import { agentName } from "~/ui/AgentMark";
import { Button } from "~/ui/Button";
import { Dialog } from "~/ui/Dialog";
import { toast } from "~/ui/toasts";
import { nameOf } from "./families";

type Props = { session: SessionListItem; version: number; onClose: () => void };

/** Goes on elsewhere from a version; the original stays as it is. */
export function ForkDialog({ session, version, onClose }: Props) {
  const client = useWarrenClient();
  const agents = useResource("agents", client.agents);
  const [name, setName] = useState(`${nameOf(session)} (fork)`);
  const [type, setType] = useState<string>(session.type);
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<string | null>(null);
  const ready = (agents.data?.agents ?? []).filter((agent) => agent.isAgent && (agent.ready || agent.name === session.type));
  const fork = async () => {
    setBusy(true);
    setProblem(null);
    try {
      const made = await client.fork(session.sessionId, { version, name: name.trim() || undefined, type: type === session.type ? undefined : type });
      onClose();
      navigate(sessionPath(made.sessionId));
      const lost = made.loss?.length ? ` Not carried over: ${made.loss.join(", ")}.` : "";
      toast({ title: `Forked as “${nameOf(made)}”`, text: `From v${version}, with ${agentName(made.type)}. The original is unchanged.${lost}`, icon: "fork" });
    } catch (error) {
      setProblem(said(error));
      setBusy(false);
    }
  };
  return (
    <Dialog label="Fork" onClose={onClose}>
      <form onSubmit={(event) => { event.preventDefault(); void fork(); }}>
        <h2>Fork from v{version}</h2>
        <p className="sub">A new session starts with the conversation and files of v{version}. The original is unchanged.</p>
        <div className="dlg-fields">
          <label>Name<input className="inp-line" autoFocus maxLength={200} value={name} onFocus={(event) => event.target.select()} onChange={(event) => setName(event.target.value)} /></label>
          <label>
            Agent
            <select className="inp-line" value={type} onChange={(event) => setType(event.target.value)}>
              {ready.map((agent) => <option key={agent.name} value={agent.name}>{agentName(agent.name)}</option>)}
              {!ready.some((agent) => agent.name === session.type) && <option value={session.type}>{agentName(session.type)}</option>}
            </select>
          </label>
        </div>
        {problem && <p className="dlg-bad" role="alert">{problem}</p>}
        <div className="dlg-acts">
          <Button look="line" onClick={onClose}>Cancel</Button>
          <Button type="submit" look="ink" disabled={busy}>{busy ? "Forking…" : "Fork"}</Button>
        </div>
      </form>
    </Dialog>
  );
}
