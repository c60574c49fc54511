import { useWarrenClient, type SessionListItem } from "@warren/react";
import { useState } from "react";
import { AgentMark, agentName } from "~/ui/AgentMark";
import { Button } from "~/ui/Button";
import { Dialog } from "~/ui/Dialog";
import { Icon } from "~/ui/Icon";

type Props = { session: SessionListItem; model: string | undefined; mayChange: boolean };

/** The agent and its model; the model can be another one from the next message on. */
export function ModelPicker({ session, model, mayChange }: Props) {
  const [open, setOpen] = useState(false);
  const options = (session.options ?? {}) as { model?: string };
  return (
    <>
      <button type="button" className="pick" aria-haspopup="dialog" disabled={!mayChange} title="Change the model" onClick={() => setOpen(true)}>
        <AgentMark type={session.type} />
        <b className="hide-s" aria-hidden="true">{agentName(session.type)}</b>
        <span className="hide-s cut">{options.model ?? model ?? ""}</span>
        <Icon name="down" size="xs" />
      </button>
      {open && <ModelDialog session={session} current={options.model ?? ""} used={model} onClose={() => setOpen(false)} />}
    </>
  );
}

type DialogProps = { session: SessionListItem; current: string; used: string | undefined; onClose: () => void };

function ModelDialog({ session, current, used, onClose }: DialogProps) {
  const client = useWarrenClient();
  const [model, setModel] = useState(current);
  const [problem, setProblem] = useState<string | null>(null);
  const save = () => {
    const { model: _old, ...rest } = (session.options ?? {}) as Record<string, unknown>;
    client.patchSession(session.sessionId, { options: { ...rest, ...(model.trim() ? { model: model.trim() } : {}) } }).then(onClose, (error: unknown) =>
      setProblem(error instanceof Error ? error.message : String(error)),
    );
  };
  return (
    <Dialog label="Model" onClose={onClose}>
      <form onSubmit={(event) => { event.preventDefault(); save(); }}>
        <h2>Model of this session</h2>
        <p className="sub">{agentName(session.type)} uses it from the next message on. Empty means the agent’s own choice{used ? `, ${used} so far` : ""}.</p>
        <div className="dlg-fields">
          <label>Model<input className="inp-line mono" autoFocus spellCheck={false} value={model} onChange={(event) => setModel(event.target.value)} /></label>
        </div>
        {problem && <p className="dlg-bad" role="alert">{problem}</p>}
        <div className="dlg-acts">
          <Button look="line" onClick={onClose}>Cancel</Button>
          <Button type="submit" look="ink">Use it</Button>
        </div>
      </form>
    </Dialog>
  );
}
