import { useResource, useWarrenClient, type AgentItem } from "@warren/react";
import { useState } from "react";
import { useNow } from "~/lib/clockwork";
import { bytes, clock } from "~/lib/format";
import { AgentMark, agentName } from "~/ui/AgentMark";
import { Button } from "~/ui/Button";
import { Confirm } from "~/ui/Confirm";
import { Icon } from "~/ui/Icon";
import { Skeleton, Unread } from "~/ui/Notice";
import { usePerson } from "../shell/person";

/** The agents, and whether their programs are here. */
export function AgentsBox() {
  const client = useWarrenClient();
  const list = useResource("agents", () => client.agents());
  return (
    <div className="box">
      <div className="h"><h2 className="grow">Agents</h2></div>
      {list.state === "loading" && <Skeleton rows={5} height={38} />}
      {list.state === "failed" && !list.data && <Unread title="The agents could not be loaded" error={list.error} onAgain={list.refresh} />}
      <ul className="al">{list.data?.agents.map((agent) => <AgentRow key={agent.name} agent={agent} onChanged={list.refresh} />)}</ul>
    </div>
  );
}

/** How long an installation takes so far: programs are up to 400 MB, and the server reports no progress. */
function Installing() {
  const [began] = useState(() => Date.now());
  const now = useNow();
  return <span className="muted" role="status">Downloading, up to 400 MB · {clock(Math.max(0, now - began))}</span>;
}

function AgentRow({ agent, onChanged }: { agent: AgentItem; onChanged: () => Promise<void> }) {
  const client = useWarrenClient();
  const { scope } = usePerson();
  const [busy, setBusy] = useState(false);
  const [failed, setFailed] = useState<string | null>(null);
  const [isFresh, setIsFresh] = useState(false);
  const [removing, setRemoving] = useState(false);
  const install = async () => {
    setBusy(true);
    setFailed(null);
    try {
      await client.installAgent(agent.name);
      // Whoever pressed Install twice must not press Remove.
      setIsFresh(true);
      setTimeout(() => setIsFresh(false), 3_000);
      await onChanged();
    } catch (error) {
      setFailed(error instanceof Error ? error.message : String(error));
    }
    setBusy(false);
  };
  const isAdmin = scope === "admin";
  const isOld = agent.installedVersion && agent.pinnedVersion && agent.installedVersion !== agent.pinnedVersion;
  return (
    <li>
      <AgentMark type={agent.name} />
      <b>{agentName(agent.name)}</b>
      <span className="rt num">
        {failed && <span className="dlg-bad cut" role="alert" title={failed}>{failed}</span>}
        {agent.ready && !agent.pinnedVersion && <>Included <Icon name="check" size="s" className="ok" /></>}
        {!agent.ready && !busy && <span className="muted">Not installed</span>}
        {busy && <Installing />}
        {agent.installedVersion && !isOld && <>{agent.installedVersion}{agent.sizeBytes ? ` · ${bytes(agent.sizeBytes)}` : ""} <Icon name="check" size="s" className="ok" /></>}
        {isOld && <span className="wr">{agent.installedVersion}, update to {agent.pinnedVersion}</span>}
        {isAdmin && agent.pinnedVersion && (!agent.installedVersion || isOld) && <Button look="line" disabled={busy} onClick={() => void install()}>{isOld ? "Update" : "Install"}</Button>}
        {isAdmin && agent.installedVersion && !isOld && !isFresh && <Button icon="x" aria-label={`Remove ${agentName(agent.name)}`} title="Remove" onClick={() => setRemoving(true)} />}
      </span>
      {removing && (
        <Confirm title={`Remove ${agentName(agent.name)}?`} action="Remove" onClose={() => setRemoving(false)} onConfirm={async () => { await client.removeAgent(agent.name); await onChanged(); }}>
          Its program is deleted from this machine. Its sessions stay readable; install it again to continue one.
        </Confirm>
      )}
    </li>
  );
}
