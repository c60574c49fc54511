import { useWarrenClient, type SessionListItem } from "@warren/react";
import { useState } from "react";
import { AgentMark, agentName } from "~/ui/AgentMark";
import { Icon } from "~/ui/Icon";
import { ModelDialog } from "./ModelDialog";

type Props = { session: SessionListItem; model: string | undefined; mayChange: boolean };

/** The scripted model answers whatever is asked for. */
const DEMO = "warren-demo-1";

/** The model of a session, and how to choose another from the next message on. */
export function ModelPicker({ session, model, mayChange }: Props) {
  const client = useWarrenClient();
  const [open, setOpen] = useState(false);
  const chosen = (session.options as { model?: string } | undefined)?.model;
  // What answered counts more than what was asked for.
  const shown = model === DEMO ? DEMO : (chosen ?? model ?? "default");
  const save = (id: string) => {
    const { model: _old, ...rest } = (session.options ?? {}) as Record<string, unknown>;
    return client.patchSession(session.sessionId, { options: { ...rest, ...(id ? { model: id } : {}) } });
  };
  return (
    <>
      <span className="pick-agent hide-s"><AgentMark type={session.type} /><b>{agentName(session.type)}</b></span>
      <button type="button" className="pick" aria-haspopup="dialog" disabled={!mayChange} title="Change the model" onClick={() => setOpen(true)}>
        Model <span className="cut">{shown}</span>
        <Icon name="down" size="xs" />
      </button>
      {open && (
        <ModelDialog title="Model of this session" agent={session.type} current={chosen ?? ""} onChoose={({ id }) => save(id)} onClose={() => setOpen(false)}>
          {agentName(session.type)} uses it from the next message on.
          {model && model !== DEMO && !chosen ? ` The default is now ${model}.` : ""}
          {model === DEMO && " The demo model answered last: where no API key is set, it answers whichever model you choose."}
        </ModelDialog>
      )}
    </>
  );
}
