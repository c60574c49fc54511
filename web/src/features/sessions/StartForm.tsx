import { useResource, useWarrenClient } from "@warren/react";
import { useRef, useState, type KeyboardEvent } from "react";
import { cost } from "~/lib/format";
import { Button } from "~/ui/Button";
import { Icon } from "~/ui/Icon";
import { Menu } from "~/ui/Menu";
import { useGrow } from "../composer/Composer";
import { EffortMenu } from "../composer/EffortMenu";
import { ModelDialog } from "../composer/ModelDialog";
import { Uploads, whatHolds } from "../composer/Uploads";
import { useWindowDrop } from "../composer/useWindowDrop";
import { profilesToStartWith } from "../settings/profile";
import { usePerson } from "../shell/person";
import { withChoice, withFile, without } from "./attached";
import type { Start } from "./useStart";

const BUDGETS = [null, 1, 5, 20];

/** The first message of a session, and what the session may do. */
export function StartForm({ start, isFree }: { start: Start; isFree: boolean }) {
  const person = usePerson();
  const client = useWarrenClient();
  const profiles = useResource("profiles", client.profiles);
  const [choosing, setChoosing] = useState(false);
  const field = useRef<HTMLTextAreaElement>(null);
  const picker = useRef<HTMLInputElement>(null);
  useGrow(field, start.text);
  const { profile, budget, asks, files, agent, held } = start;
  const add = (list: readonly File[]) => start.setFiles((old) => list.reduce(withFile, old));
  const dropping = useWindowDrop(add);
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== "Enter" || event.shiftKey || event.nativeEvent.isComposing) return;
    event.preventDefault();
    void start.start();
  };
  const shownProfile = profilesToStartWith(person.scope, profiles.data?.profiles ?? []);
  return (
    <div className={`comp ${dropping ? "dropping" : ""}`} onPaste={(event) => event.clipboardData.files.length && (event.preventDefault(), add([...event.clipboardData.files]))}>
      <Uploads
        uploads={files.map((one) => one.upload)}
        onChoose={(id, choice) => { start.setFiles((old) => withChoice(old, id, choice)); field.current?.focus(); }}
        onRemove={(id) => { start.setFiles((old) => without(old, id)); field.current?.focus(); }}
      />
      <label className="vh" htmlFor="msg">First message</label>
      <textarea id="msg" ref={field} className="tall" autoFocus dir="auto" placeholder="Describe the work, or drop files here…" value={start.text} onChange={(event) => start.setText(event.target.value)} onKeyDown={onKeyDown} />
      <div className="bar">
        <Button icon="clip" aria-label="Attach files" title="Attach files" onClick={() => picker.current?.click()} />
        <input ref={picker} type="file" multiple hidden tabIndex={-1} aria-label="Files to attach" onChange={(event) => { add([...(event.target.files ?? [])]); event.target.value = ""; }} />
        <Menu label={`Profile ${profile ?? "Default"}`} className="pick" items={shownProfile.map((one) => ({ label: one.name ?? one.id, checked: one.id === (profile ?? "default"), onChoose: () => start.change({ profile: one.id ?? null }) }))}>
          Profile <span>{profile ?? "Default"}</span>
          <Icon name="down" size="xs" />
        </Menu>
        <button type="button" className="pick" aria-haspopup="dialog" title="Choose the model" disabled={!agent} onClick={() => setChoosing(true)}>
          Model <span className="cut">{start.model?.id || "default"}</span>
          <Icon name="down" size="xs" />
        </button>
        {agent?.hasEffort && <EffortMenu effort={start.effort} onChoose={(effort) => start.change({ effort })} />}
        {choosing && agent && (
          <ModelDialog title="Model of the new session" agent={agent.name} current={start.model?.id ?? ""} onChoose={(model) => start.change({ model: model.id ? model : null })} onClose={() => setChoosing(false)}>
            It can be changed for each later message.
          </ModelDialog>
        )}
        {!isFree && (
          <Menu label={`Budget ${budget === null ? "none" : cost(budget)}`} className="pick hide-s" items={BUDGETS.map((usd) => ({ label: usd === null ? "None" : cost(usd), checked: usd === budget, onChoose: () => start.change({ budget: usd }) }))}>
            Budget <span className="num">{budget === null ? "none" : cost(budget)}</span>
            <Icon name="down" size="xs" />
          </Menu>
        )}
        <Menu label={`Permissions: ${asks ? "Ask before acting" : "Auto-approve"}`} className="pick hide-s" items={[{ label: "Auto-approve", note: "sandboxed", checked: !asks, onChoose: () => start.change({ asks: false }) }, { label: "Ask before acting", checked: asks, onChoose: () => start.change({ asks: true }) }]}>
          {asks ? "Ask before acting" : "Auto-approve"}
          <Icon name="down" size="xs" />
        </Menu>
        <input className="name hide-s" aria-label="Session name" placeholder="Name (optional)" maxLength={200} value={start.name} onChange={(event) => start.change({ name: event.target.value })} />
        <span className="grow" />
        <Button look="fill" className="start" title={held && whatHolds(held)} disabled={!start.isReady} onClick={() => void start.start()}>
          {start.busy ?? (agent && !agent.ready ? "Install and start" : "Start")} <Icon name="up" size="s" />
        </Button>
      </div>
    </div>
  );
}
