import type { Content, Run, SessionStore, Spending } from "@warren/react";
import { useLayoutEffect, useRef, useState, type KeyboardEvent, type ReactNode } from "react";
import { Button } from "~/ui/Button";
import { Icon } from "~/ui/Icon";
import { Segment } from "~/ui/Segment";
import { ContextRing } from "./ContextRing";
import { QueueStrip } from "./QueueStrip";
import { Uploads, whatHolds } from "./Uploads";
import { useDraft } from "./useDraft";
import { useUploads } from "./useUploads";

type Busy = "queue" | "steer";

/** Agents that take no message while they work (docs/agents.md): theirs wait for the next turn. */
const CANNOT_STEER = new Set(["gemini-cli", "acp"]);

type Props = {
  store: SessionStore;
  agentType: string;
  running: boolean;
  stopping: boolean;
  queued: readonly Run[];
  spending: Spending;
  picker: ReactNode;
  onStop: () => void;
  onSent: () => void;
};

/** Where a person writes: queue strip, text, attachments, agent and model, context, queue or steer, stop, send. */
export function Composer({ store, agentType, running, stopping, queued, spending, picker, onStop, onSent }: Props) {
  const [draft, change] = useDraft(store.sessionId);
  const [busy, setBusy] = useState<Busy>("queue");
  const uploads = useUploads(store.client, store.sessionId, change);
  const field = useRef<HTMLTextAreaElement>(null);
  const files = useRef<HTMLInputElement>(null);
  useGrow(field, draft.text);
  // A message never goes without a file that was meant to go with it.
  const missing = draft.uploads.find((upload) => upload.state !== "done");
  const paths = draft.uploads.flatMap((upload) => (upload.path ? [upload.path] : []));
  const ready = !missing && (draft.text.trim() !== "" || paths.length > 0);
  const steers = !CANNOT_STEER.has(agentType);
  const send = (whenBusy: Busy) => {
    if (!ready) return;
    // What becomes of it is shown in the conversation: the message itself says when it was not taken.
    store.send(contentOf(draft.text, paths), running ? { whenBusy } : {}).catch(() => {});
    change(() => ({ text: "", uploads: [] }));
    onSent();
  };
  // The button that was pressed goes away with its question; the focus goes on to the message.
  const andWrite = (act: () => void) => {
    act();
    field.current?.focus();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== "Enter" || event.shiftKey || event.nativeEvent.isComposing) return;
    event.preventDefault();
    send(running && steers && (event.ctrlKey || event.metaKey) ? "steer" : busy);
  };
  return (
    <>
      <QueueStrip
        runs={queued}
        onReword={(run, text) => store.client.rewordRun(store.sessionId, run, text)}
        onMove={(run, position) => store.client.moveRun(store.sessionId, run, position)}
        onDrop={(run) => store.client.dropRun(store.sessionId, run)}
      />
      <div className="comp" onPaste={uploads.onPaste} onDragOver={uploads.onDragOver} onDrop={uploads.onDrop}>
        <Uploads
          uploads={draft.uploads}
          onAgain={(id) => andWrite(() => uploads.again(id))}
          onChoose={(id, choice) => andWrite(() => uploads.choose(id, choice, draft.uploads.map((upload) => upload.name)))}
          onRemove={(id) => andWrite(() => uploads.remove(id))}
        />
        <label className="vh" htmlFor="msg">Message</label>
        <textarea
          id="msg"
          ref={field}
          rows={1}
          dir="auto"
          placeholder={running ? "Add to the queue, or steer what is running…" : "Say what to do next, or drop files here…"}
          value={draft.text}
          onChange={(event) => change((old) => ({ ...old, text: event.target.value }))}
          onKeyDown={onKeyDown}
        />
        <div className="bar">
          <Button icon="clip" aria-label="Attach files" title="Attach files" onClick={() => files.current?.click()} />
          <input ref={files} type="file" multiple hidden tabIndex={-1} aria-label="Files to attach" onChange={(event) => { uploads.add([...(event.target.files ?? [])]); event.target.value = ""; }} />
          {picker}
          <span className="grow" />
          <ContextRing spending={spending} />
          {running && <Segment label="While running" value={busy} choices={[{ value: "queue", label: "Queue" }, { value: "steer", label: "Steer", disabled: !steers, why: steers ? undefined : "This agent takes no messages while it works" }]} onChange={setBusy} />}
          {running && (
            <Button look="line" className="stop sq-s" aria-label="Stop" title="Stop (Esc Esc)" disabled={stopping} onClick={onStop}>
              <Icon name="stop" />
              <span className="hide-s">{stopping ? "Stopping…" : "Stop"}</span>
            </Button>
          )}
          <Button look="fill" icon="up" aria-label="Send" title={missing ? whatHolds(missing) : "Send (Enter)"} disabled={!ready} onClick={() => send(busy)} />
        </div>
      </div>
      <Hint running={running} />
    </>
  );
}

function Hint({ running }: { running: boolean }) {
  return (
    <div className="hint" aria-hidden="true">
      <span><kbd>Enter</kbd> {running ? "queue" : "send"}</span>
      {running && <span><kbd>Ctrl</kbd><kbd>Enter</kbd> steer</span>}
      <span><kbd>Shift</kbd><kbd>Enter</kbd> new line</span>
      {running && <span><kbd>Esc</kbd><kbd>Esc</kbd> stop</span>}
    </div>
  );
}

/** Text alone stays text; files are named beside it. */
export function contentOf(text: string, paths: readonly string[]): Content {
  if (!paths.length) return text;
  return [...(text.trim() ? [{ text }] : []), ...paths.map((file) => ({ file }))];
}

/** As high as its text, up to ten lines. */
export function useGrow(field: React.RefObject<HTMLTextAreaElement | null>, text: string) {
  useLayoutEffect(() => {
    const box = field.current;
    if (!box) return;
    box.style.height = "auto";
    box.style.height = `${Math.min(box.scrollHeight, 225)}px`;
  }, [field, text]);
}
