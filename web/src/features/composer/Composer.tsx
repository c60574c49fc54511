import type { Content, Run, SessionStore, Spending } from "@warren/react";
import { useId, useLayoutEffect, useRef, useState, type KeyboardEvent, type ReactNode } from "react";
import { said } from "~/lib/problem";
import { Button } from "~/ui/Button";
import { Icon } from "~/ui/Icon";
import { Segment } from "~/ui/Segment";
import { ContextRing } from "./ContextRing";
import { UnsavedEdits } from "./UnsavedEdits";
import { promptsOf, recalled } from "./history";
import { QueueStrip } from "./QueueStrip";
import { Suggestions } from "./Suggestions";
import { Uploads, whatHolds } from "./Uploads";
import { useDraft } from "./useDraft";
import { useSuggestions, type SlashCommand } from "./useSuggestions";
import { useUploads } from "./useUploads";
import { useWindowDrop } from "./useWindowDrop";

type Busy = "queue" | "steer";

/** Agents that take no message while they work (docs/agents.md): theirs wait for the next turn. */
const CANNOT_STEER = new Set(["gemini-cli", "acp"]);

type Props = {
  store: SessionStore;
  agentType: string;
  running: boolean;
  stopping: boolean;
  /** The first Escape was pressed: the next one stops the run. */
  stopHint: boolean;
  queued: readonly Run[];
  queueHeld: boolean;
  spending: Spending;
  picker: ReactNode;
  commands: readonly SlashCommand[];
  onStop: () => void;
  onSent: () => void;
};

/** Where a person writes: queue strip, text, attachments, model, context, queue or steer, stop, send. */
export function Composer({ store, agentType, running, stopping, stopHint, queued, queueHeld, spending, picker, commands, onStop, onSent }: Props) {
  const { client, sessionId } = store;
  const [draft, change] = useDraft(sessionId);
  const [busy, setBusy] = useState<Busy>("queue");
  const [back, setBack] = useState<number | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  const uploads = useUploads(client, sessionId, change);
  const dropping = useWindowDrop(uploads.add);
  const field = useRef<HTMLTextAreaElement>(null);
  const files = useRef<HTMLInputElement>(null);
  const listId = useId();
  const setText = (text: string) => change((old) => ({ ...old, text }));
  const suggest = useSuggestions({ client, sessionId, text: draft.text, field, commands, onText: setText });
  useGrow(field, draft.text);
  // A message never goes without a file that was meant to go with it.
  const missing = draft.uploads.find((upload) => upload.state !== "done");
  const paths = draft.uploads.flatMap((upload) => (upload.path ? [upload.path] : []));
  const ready = !missing && (draft.text.trim() !== "" || paths.length > 0);
  const steers = !CANNOT_STEER.has(agentType);
  const send = async (whenBusy: Busy) => {
    if (!ready) return;
    setProblem(null);
    const { edited } = draft;
    if (edited?.restores && edited.baseVersion !== null) {
      try {
        await client.restore(sessionId, edited.baseVersion);
      } catch (error) {
        return setProblem(`v${edited.baseVersion} was not restored, and the message was not sent: ${said(error)}`);
      }
    }
    // What becomes of it is shown in the conversation: the message itself says when it was not taken.
    store.send(contentOf(draft.text, paths), running ? { whenBusy } : {}).catch(() => {});
    change(() => ({ text: "", uploads: [] }));
    setBack(null);
    onSent();
  };
  // The button that was pressed goes away with its question; the focus goes on to the message.
  const andWrite = (act: () => void) => {
    act();
    field.current?.focus();
  };
  const recall = (by: 1 | -1): boolean => {
    if (back === null && draft.text !== "") return false;
    const next = recalled(promptsOf(store.state.main.values()), back, by);
    if (next.text === null) return false;
    setText(next.text);
    setBack(next.at);
    return true;
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.nativeEvent.isComposing || suggest.onKeyDown(event)) return;
    if (event.key === "ArrowUp" && recall(1)) return event.preventDefault();
    if (event.key === "ArrowDown" && recall(-1)) return event.preventDefault();
    if (event.key !== "Enter" || event.shiftKey) return;
    event.preventDefault();
    void send(running && steers && (event.ctrlKey || event.metaKey) ? "steer" : busy);
  };
  return (
    <>
      <QueueStrip
        runs={queued}
        held={queueHeld}
        steered={new Set(store.pending.flatMap((message) => (message.whenBusy === "steer" && message.runId ? [message.runId] : [])))}
        onResume={() => client.patchSession(sessionId, { queueHeld: false })}
        onReword={(run, text) => client.rewordRun(sessionId, run, text)}
        onMove={(run, position) => client.moveRun(sessionId, run, position)}
        onDrop={(run) => client.dropRun(sessionId, run)}
      />
      <div className={`comp ${dropping ? "dropping" : ""}`} onPaste={uploads.onPaste}>
        <Suggestions id={listId} kind={suggest.kind} shown={suggest.shown} active={suggest.active} onChoose={suggest.choose} />
        {draft.edited && <Editing edited={draft.edited} onRestore={(restores) => change((old) => ({ ...old, edited: old.edited && { ...old.edited, restores } }))} onCancel={() => andWrite(() => change(() => ({ text: "", uploads: [] })))} />}
        <Uploads
          uploads={draft.uploads}
          onAgain={(id) => andWrite(() => uploads.again(id))}
          onChoose={(id, choice) => andWrite(() => uploads.choose(id, choice, draft.uploads.map((upload) => upload.name)))}
          onRemove={(id) => andWrite(() => uploads.remove(id))}
        />
        <UnsavedEdits sessionId={sessionId} />
        <label className="vh" htmlFor="msg">Message</label>
        <textarea
          id="msg"
          ref={field}
          rows={1}
          dir="auto"
          placeholder={dropping ? "Drop files to attach them" : running ? "Queue a message, or steer the agent…" : "Message, @ for files, / for commands…"}
          aria-autocomplete="list"
          aria-controls={suggest.shown.length ? listId : undefined}
          aria-activedescendant={suggest.shown.length ? `${listId}-${suggest.active}` : undefined}
          value={draft.text}
          onChange={(event) => { setBack(null); setText(event.target.value); suggest.follow(); }}
          onSelect={suggest.follow}
          onKeyDown={onKeyDown}
        />
        {problem && <p className="dlg-bad m-3" role="alert">{problem}</p>}
        <div className="bar">
          <Button icon="clip" aria-label="Attach files" title="Attach files" onClick={() => files.current?.click()} />
          <input ref={files} type="file" multiple hidden tabIndex={-1} aria-label="Files to attach" onChange={(event) => { uploads.add([...(event.target.files ?? [])]); event.target.value = ""; }} />
          {picker}
          <span className="grow" />
          <ContextRing spending={spending} />
          {running && <Segment label="While running" value={busy} choices={[{ value: "queue", label: "Queue" }, { value: "steer", label: "Steer", disabled: !steers, why: steers ? undefined : "This agent accepts no messages during a run" }]} onChange={setBusy} />}
          {running && (
            <Button look="line" className="stop sq-s" aria-label="Stop" title="Stop (Esc Esc)" disabled={stopping} onClick={onStop}>
              <Icon name="stop" />
              <span className="hide-s">{stopping ? "Stopping…" : "Stop"}</span>
            </Button>
          )}
          <Button look="fill" icon="up" aria-label="Send" title={missing ? whatHolds(missing) : "Send (Enter)"} disabled={!ready} onClick={() => void send(busy)} />
        </div>
      </div>
      <Hint running={running} steers={steers} stopHint={stopHint && !stopping} />
    </>
  );
}

type EditingProps = { edited: NonNullable<ReturnType<typeof useDraft>[0]["edited"]>; onRestore: (restores: boolean) => void; onCancel: () => void };

function Editing({ edited, onRestore, onCancel }: EditingProps) {
  return (
    <div className="editing" role="group" aria-label="Editing a message">
      <span>Editing an earlier message</span>
      {edited.baseVersion !== null && (
        <label>
          <input type="checkbox" checked={edited.restores} onChange={(event) => onRestore(event.target.checked)} />
          Restore files, uploads and memory to v{edited.baseVersion} first
        </label>
      )}
      <span className="grow" />
      <Button onClick={onCancel}>Cancel</Button>
    </div>
  );
}

function Hint({ running, steers, stopHint }: { running: boolean; steers: boolean; stopHint: boolean }) {
  if (stopHint) return <div className="hint shown"><span className="stop-hint"><kbd>Esc</kbd> again to stop</span></div>;
  return (
    <div className="hint" aria-hidden="true">
      <span><kbd>Enter</kbd> {running ? "queue" : "send"}</span>
      {running && steers && <span><kbd>Ctrl</kbd><kbd>Enter</kbd> steer</span>}
      <span><kbd>Shift</kbd><kbd>Enter</kbd> new line</span>
      {running ? <span><kbd>Esc</kbd><kbd>Esc</kbd> stop</span> : <span><kbd>↑</kbd> earlier prompts</span>}
    </div>
  );
}

/** Text alone stays text; files are named beside it. */
export function contentOf(text: string, paths: readonly string[]): Content {
  if (!paths.length) return text;
  return [...(text.trim() ? [{ text }] : []), ...paths.map((file) => ({ file }))];
}

/** As high as its text, up to ten lines. A layout effect: the height is read from the document. */
export function useGrow(field: React.RefObject<HTMLTextAreaElement | null>, text: string) {
  useLayoutEffect(() => {
    const box = field.current;
    if (!box) return;
    box.style.height = "auto";
    box.style.height = `${Math.min(box.scrollHeight, 225)}px`;
  }, [field, text]);
}
