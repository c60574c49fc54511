import { useWarrenClient, WarrenError } from "@warren/react";
import { useEffect, useRef, useState, type KeyboardEvent } from "react";
import { Button } from "~/ui/Button";
import { Skeleton, Unread } from "~/ui/Notice";
import { asText, useContent } from "../viewers/useContent";

type Props = { sessionId: string; path: string; stamp: unknown; onDone: () => void };

/** Edits a text. It is saved only over what was read: if somebody changed the file meanwhile, both are kept and shown. */
export function FileEditor({ sessionId, path, stamp, onDone }: Props) {
  const client = useWarrenClient();
  const content = useContent(`edit ${sessionId} ${path}`, () => client.readFile(sessionId, path));
  const [text, setText] = useState<string | null>(null);
  const [etag, setEtag] = useState<string | null>(null);
  const [busy, setBusy] = useState(false);
  const [failed, setFailed] = useState<string | null>(null);
  const [isBehind, setBehind] = useState(false);
  const first = useRef(stamp);
  const read = content.data ? asText(content.data.bytes) : null;
  useEffect(() => {
    if (content.data && text === null) {
      setText(read ?? "");
      setEtag(content.data.etag);
    }
  }, [content.data, read, text]);
  useEffect(() => {
    if (first.current !== stamp) setBehind(true);
  }, [stamp]);
  if (content.state === "failed" && text === null) return <Unread title="It could not be read" error={content.error} onAgain={content.refresh} />;
  if (text === null) return <Skeleton rows={10} height={20} />;

  const save = async (force: boolean) => {
    setBusy(true);
    setFailed(null);
    try {
      await client.writeFile(sessionId, path, new Blob([text]), force ? undefined : (etag ?? undefined));
      onDone();
    } catch (error) {
      const isOther = error instanceof WarrenError && (error.status === 412 || error.status === 409);
      if (isOther) setBehind(true);
      setFailed(isOther ? "The file was changed meanwhile, so nothing was saved. Your text is still here." : error instanceof Error ? error.message : String(error));
      setBusy(false);
    }
  };
  const onKeyDown = (event: KeyboardEvent<HTMLTextAreaElement>) => {
    if ((event.ctrlKey || event.metaKey) && event.key === "s") {
      event.preventDefault();
      void save(false);
    }
  };
  return (
    <div className="editor">
      {isBehind && <p className="stale">The agent changed this file after you opened it.</p>}
      <textarea aria-label={`Text of ${path}`} spellCheck={false} autoFocus value={text} onChange={(event) => setText(event.target.value)} onKeyDown={onKeyDown} />
      <div className="foot">
        {failed && <span className="dlg-bad" role="alert">{failed}</span>}
        <span className="grow" />
        <Button look="line" onClick={onDone}>Cancel</Button>
        {failed && isBehind && <Button look="line" disabled={busy} onClick={() => void save(true)}>Save over it</Button>}
        <Button look="fill" disabled={busy || text === read} onClick={() => void save(false)}>Save</Button>
      </div>
    </div>
  );
}
