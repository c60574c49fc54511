import { useResource, useWarrenClient, type SessionListItem } from "@warren/react";
import { useState } from "react";
import { AgentMark, agentName } from "~/ui/AgentMark";
import { Icon } from "~/ui/Icon";
import { ModelDialog } from "./ModelDialog";
import { DEMO, willAnswer } from "./models";

type Props = { session: SessionListItem; model: string | undefined; mayChange: boolean };

/** The model of a session, and how to choose another from the next message on. */
export function ModelPicker({ session, model, mayChange }: Props) {
  const client = useWarrenClient();
  const [open, setOpen] = useState(false);
  const chosen = (session.options as { model?: string } | undefined)?.model;
  const profile = session.agentProfileReference;
  // Most sessions have the default profile, which chooses no model.
  const profiles = useResource(`profiles of ${profile}`, async () => (profile === "default" ? [] : (await client.profiles()).profiles));
  const ofProfile = profiles.data?.find((one) => one.id === profile)?.model;
  // Read again when something else answers: a key was stored or removed.
  const models = useResource("models", client.models, model);
  const own = willAnswer({ chosen: ofProfile, answered: model, agent: session.type, models: models.data?.models });
  const shown = chosen ?? own ?? "default";
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
          {own && !chosen ? ` The default is now ${own}.` : ""}
          {own === DEMO && " The demo model answers from a script: no API key is set for the default model."}
        </ModelDialog>
      )}
    </>
  );
}
