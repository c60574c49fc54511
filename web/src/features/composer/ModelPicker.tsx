import { useWarrenClient, type SessionListItem } from "@warren/react";
import { useId, useState } from "react";
import { said } from "~/lib/problem";
import { AgentMark, agentName } from "~/ui/AgentMark";
import { Button } from "~/ui/Button";
import { Dialog } from "~/ui/Dialog";
import { Icon } from "~/ui/Icon";
import { doubtOf, modelsOf } from "./models";

type Props = { session: SessionListItem; model: string | undefined; mayChange: boolean };

/** The scripted model answers whatever is asked for. */
const DEMO = "warren-demo-1";

/** The model of a session, and how to choose another from the next message on. */
export function ModelPicker({ session, model, mayChange }: Props) {
  const [open, setOpen] = useState(false);
  const chosen = (session.options as { model?: string } | undefined)?.model;
  // What answered counts more than what was asked for.
  const shown = model === DEMO ? DEMO : (chosen ?? model ?? "default");
  return (
    <>
      <span className="pick-agent hide-s"><AgentMark type={session.type} /><b>{agentName(session.type)}</b></span>
      <button type="button" className="pick" aria-haspopup="dialog" disabled={!mayChange} title="Change the model" onClick={() => setOpen(true)}>
        Model <span className="cut">{shown}</span>
        <Icon name="down" size="xs" />
      </button>
      {open && <ModelDialog session={session} current={chosen ?? ""} used={model} onClose={() => setOpen(false)} />}
    </>
  );
}

type DialogProps = { session: SessionListItem; current: string; used: string | undefined; onClose: () => void };

function ModelDialog({ session, current, used, onClose }: DialogProps) {
  const client = useWarrenClient();
  const list = useId();
  const [model, setModel] = useState(current);
  const [problem, setProblem] = useState<string | null>(null);
  const doubt = doubtOf(model);
  const save = () => {
    const { model: _old, ...rest } = (session.options ?? {}) as Record<string, unknown>;
    const options = { ...rest, ...(model.trim() ? { model: model.trim() } : {}) };
    client.patchSession(session.sessionId, { options }).then(onClose, (error: unknown) => setProblem(said(error)));
  };
  return (
    <Dialog label="Model" onClose={onClose}>
      <form onSubmit={(event) => { event.preventDefault(); save(); }}>
        <h2>Model of this session</h2>
        <p className="sub">
          {agentName(session.type)} uses it from the next message on. Leave empty for the agent’s default{used && used !== DEMO && !current ? ` (now ${used})` : ""}.
          {used === DEMO && " No API key is set, so the demo model answers whichever model you choose."}
        </p>
        <div className="dlg-fields">
          <label>Model<input className="inp-line mono" autoFocus spellCheck={false} list={list} placeholder="Agent’s default" value={model} aria-describedby={doubt ? `${list}-doubt` : undefined} onChange={(event) => setModel(event.target.value)} /></label>
          <datalist id={list}>{modelsOf(session.type).map((name) => <option key={name} value={name} />)}</datalist>
        </div>
        {doubt && <p className="field-warn" id={`${list}-doubt`} role="status">{doubt}</p>}
        {problem && <p className="dlg-bad" role="alert">{problem}</p>}
        <div className="dlg-acts">
          <Button look="line" onClick={onClose}>Cancel</Button>
          <Button type="submit" look="ink">Save</Button>
        </div>
      </form>
    </Dialog>
  );
}
