import { useState } from "react";

type Props = { label: string; onSave: (label: string | null) => Promise<unknown>; onDone: () => void };

/** Names a version in place. A named version is kept for ever. */
export function LabelField({ label, onSave, onDone }: Props) {
  const [text, setText] = useState(label);
  const [failed, setFailed] = useState<string | null>(null);
  const save = () => {
    if (text.trim() === label) return onDone();
    onSave(text.trim() || null).then(onDone, (error: unknown) => setFailed(error instanceof Error ? error.message : String(error)));
  };
  return (
    <form className="vlabel" onSubmit={(event) => { event.preventDefault(); save(); }}>
      <input className="inp-line" autoFocus aria-label="Label of this version" maxLength={100} placeholder="Label (labelled versions are kept forever)" value={text} onChange={(event) => setText(event.target.value)} onBlur={save} onKeyDown={(event) => event.key === "Escape" && onDone()} />
      {failed && <p className="dlg-bad" role="alert">{failed}</p>}
    </form>
  );
}
