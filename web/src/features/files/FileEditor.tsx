import { useWarrenClient, WarrenError } from "@warren/react";
import { useEffect, useRef, useState } from "react";
import { Button } from "~/ui/Button";
import { Confirm } from "~/ui/Confirm";
import { lazily } from "~/ui/lazily";
import { Skeleton, Unread } from "~/ui/Notice";
import { asText, useContent } from "../viewers/useContent";
import { dropEdit, editsOf, keepEdit, useEdits } from "./edits";

const CodeEditor = lazily(async () => (await import("../editor/CodeEditor")).default, <Skeleton rows={10} height={20} />);

type Props = { sessionId: string; path: string; stamp: unknown; onDone: () => void };

/** Edits a text. It is saved only over what was read: if somebody changed the file meanwhile, both are kept and shown. */
export function FileEditor({ sessionId, path, stamp, onDone }: Props) {
  const client = useWarrenClient();
  const content = useContent(`edit ${sessionId} ${path}`, () => client.readFile(sessionId, path));
  const edit = useEdits(sessionId).get(path);
  const [saved, setSaved] = useState<{ text: string; etag: string | null } | null>(null);
  const [busy, setBusy] = useState(false);
  const [failed, setFailed] = useState<string | null>(null);
  const [isRefused, setRefused] = useState(false);
  const [isLeaving, setLeaving] = useState(false);
  const seen = useRef(stamp);
  /** Changes of the file that this editor made and that are not reported yet. */
  const own = useRef(0);
  const acts = useRef<HTMLDivElement>(null);
  const [isBehind, setBehind] = useState(false);
  const read = content.data ? asText(content.data.bytes) : null;
  const base = saved ?? (content.data ? { text: read ?? "", etag: content.data.etag } : null);
  useEffect(() => {
    if (seen.current === stamp) return;
    seen.current = stamp;
    if (own.current > 0) own.current -= 1;
    else setBehind(true);
  }, [stamp]);
  if (content.state === "failed" && !base) return <Unread title="The file could not be read" error={content.error} onAgain={content.refresh} />;
  if (!base) return <Skeleton rows={10} height={20} />;

  // What was typed before the file was opened again may be older than the file.
  const isOld = edit !== undefined && edit.etag !== base.etag;
  const onChange = (text: string) => {
    if (text === base.text) dropEdit(sessionId, path);
    else keepEdit(sessionId, path, { text, etag: edit?.etag ?? base.etag });
  };
  const save = async (force: boolean, then: "stay" | "leave") => {
    if (!edit || busy) return;
    setBusy(true);
    setFailed(null);
    own.current += 1;
    try {
      const response = await client.writeFile(sessionId, path, new Blob([edit.text]), force ? undefined : (edit.etag ?? undefined));
      const etag = response.headers.get("ETag");
      setSaved({ text: edit.text, etag });
      setRefused(false);
      setBehind(false);
      if (settled(sessionId, path, edit.text, etag) && then === "leave") onDone();
    } catch (error) {
      own.current -= 1;
      const isOther = error instanceof WarrenError && (error.status === 412 || error.status === 409);
      setRefused(isOther);
      setFailed(isOther ? "The file changed in the meantime, so nothing was saved. Your text is still here." : error instanceof Error ? error.message : String(error));
    } finally {
      setBusy(false);
    }
  };
  const cancel = () => (edit ? setLeaving(true) : onDone());
  // Tab indents in the text: Escape is the way to the buttons, or out if there is nothing to save.
  const leave = () => (edit ? acts.current?.querySelector<HTMLElement>("[data-save]")?.focus() : onDone());
  return (
    <div className="editor">
      {(isBehind || isOld) && <p className="stale">This file changed after you started editing it.</p>}
      <CodeEditor path={path} label={`Text of ${path}`} text={edit?.text ?? base.text} onChange={onChange} onSave={() => void save(false, "stay")} onLeave={leave} />
      <div className="foot" ref={acts}>
        {failed ? <span className="dlg-bad" role="alert">{failed}</span> : <span className="muted" role="status">{edit ? "Not saved. Ctrl+S saves, Esc goes to the buttons." : saved ? "Saved." : ""}</span>}
        <span className="grow" />
        <Button look="line" onClick={cancel}>{edit ? "Cancel" : "Done"}</Button>
        {isRefused && <Button look="line" disabled={busy} onClick={() => void save(true, "leave")}>Overwrite</Button>}
        <Button look="fill" data-save disabled={busy || !edit} onClick={() => void save(false, "leave")}>Save</Button>
      </div>
      {isLeaving && (
        <Confirm title="Discard your changes?" action="Discard" onClose={() => setLeaving(false)} onConfirm={() => { dropEdit(sessionId, path); onDone(); }}>
          What you typed into {path} was not saved.
        </Confirm>
      )}
    </div>
  );
}

/** Whether all of it was saved. What was typed while the file was being saved stays, on top of that. */
function settled(sessionId: string, path: string, text: string, etag: string | null): boolean {
  const now = editsOf(sessionId).get(path);
  const isAll = !now || now.text === text;
  if (isAll) dropEdit(sessionId, path);
  else keepEdit(sessionId, path, { ...now, etag });
  return isAll;
}
