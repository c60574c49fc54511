import { useResource, useWarrenClient, type SessionListItem, type SessionOptions } from "@warren/react";
import { useState } from "react";
import { said } from "~/lib/problem";
import { AgentMark, agentName } from "~/ui/AgentMark";
import { Icon } from "~/ui/Icon";
import { toast } from "~/ui/toasts";
import { EffortMenu } from "./EffortMenu";
import { ModelDialog } from "./ModelDialog";
import { DEMO, willAnswer } from "./models";

type Props = { session: SessionListItem; model: string | undefined; mayChange: boolean };

/** The model of a session, and how to choose another from the next message on. */
export function ModelPicker({ session, model, mayChange }: Props) {
  const client = useWarrenClient();
  const [open, setOpen] = useState(false);
  const agents = useResource("agents", client.agents);
  const hasEffort = agents.data?.agents.find((agent) => agent.name === session.type)?.hasEffort === true;
  const options = (session.options ?? {}) as SessionOptions;
  const chosen = options.model;
  const profile = session.agentProfileReference;
  // Most sessions have the default profile, which chooses no model.
  const profiles = useResource(`profiles of ${profile}`, async () => (profile === "default" ? [] : (await client.profiles()).profiles));
  const ofProfile = profiles.data?.find((one) => one.id === profile)?.model;
  // Read again when something else answers: a key was stored or removed.
  const models = useResource("models", client.models, model);
  const own = willAnswer({ chosen: ofProfile, answered: model, agent: session.type, models: models.data?.models });
  const shown = chosen ?? own ?? "default";
  // What is undefined is not sent, and so is gone.
  const save = (changes: Partial<SessionOptions>) => client.patchSession(session.sessionId, { options: { ...options, ...changes } });
  return (
    <>
      <span className="pick-agent hide-s"><AgentMark type={session.type} /><b>{agentName(session.type)}</b></span>
      <button type="button" className="pick" aria-haspopup="dialog" disabled={!mayChange} title="Change the model" onClick={() => setOpen(true)}>
        Model <span className="cut">{shown}</span>
        <Icon name="down" size="xs" />
      </button>
      {hasEffort && mayChange && <EffortMenu effort={options.effort ?? null} onChoose={(effort) => void save({ effort: effort ?? undefined }).catch((error: unknown) => toast({ title: "The effort was not changed", text: said(error), warn: true }))} />}
      {open && (
        <ModelDialog title="Model of this session" agent={session.type} current={chosen ?? ""} onChoose={({ id }) => save({ model: id || undefined })} onClose={() => setOpen(false)}>
          {agentName(session.type)} uses it from the next message on.
          {own && !chosen ? ` The default is now ${own}.` : ""}
          {own === DEMO && " The demo model answers from a script: no API key is set for the default model."}
        </ModelDialog>
      )}
    </>
  );
}
