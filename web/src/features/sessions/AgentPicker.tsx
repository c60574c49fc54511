import type { AgentItem } from "@warren/react";
import type { KeyboardEvent } from "react";
import { AgentMark, agentName } from "~/ui/AgentMark";
import { Icon } from "~/ui/Icon";

type Props = { agents: readonly AgentItem[]; chosen: string | undefined; isLoading: boolean; onChoose: (name: string) => void };

/** The agents, one of which is chosen. */
export function AgentPicker({ agents, chosen, isLoading, onChoose }: Props) {
  // Room for the agents until they are known, so that what is below stays where it is.
  if (isLoading) {
    return (
      <div className="agents" role="status" aria-label="Loading">
        {Array.from({ length: 5 }, (_, at) => <span key={at} className="agc to-come" />)}
      </div>
    );
  }
  const onKeyDown = (event: KeyboardEvent<HTMLDivElement>) => {
    const at = agents.findIndex((agent) => agent.name === chosen);
    const to = { ArrowRight: at + 1, ArrowDown: at + 1, ArrowLeft: at - 1, ArrowUp: at - 1 }[event.key];
    const next = to === undefined ? undefined : agents[(to + agents.length) % agents.length];
    if (!next) return;
    event.preventDefault();
    onChoose(next.name);
    event.currentTarget.querySelectorAll<HTMLElement>("[role=radio]")[agents.indexOf(next)]?.focus();
  };
  return (
    <div className="agents" role="radiogroup" aria-label="Agent" onKeyDown={onKeyDown}>
      {agents.map((agent) => (
        <button key={agent.name} type="button" className="agc" role="radio" aria-checked={agent.name === chosen} tabIndex={agent.name === chosen ? 0 : -1} onClick={() => onChoose(agent.name)}>
          <AgentMark type={agent.name} size="xl" />
          <span className="grow">
            <b className="cut">{agent.name === "builtin" ? "Built-in" : agentName(agent.name)}</b>
            {agent.ready ? <small className="ok"><Icon name="check" size="xs" />Ready</small> : <small><Icon name="dl" size="xs" />Install</small>}
          </span>
        </button>
      ))}
    </div>
  );
}
