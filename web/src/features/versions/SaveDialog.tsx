import { useWarrenClient } from "@warren/react";
import { useState } from "react";
import { said } from "~/lib/problem";
import { Button } from "~/ui/Button";
import { Dialog } from "~/ui/Dialog";
import { toast } from "~/ui/toasts";

/** Saves what is there now as a version, with a label if one is given. */
export function SaveDialog({ sessionId, onClose }: { sessionId: string; onClose: () => void }) {
  const client = useWarrenClient();
  const [label, setLabel] = useState("");
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<string | null>(null);
  const save = async () => {
    setBusy(true);
    setProblem(null);
    try {
      const { version } = await client.snapshot(sessionId);
      if (label.trim()) await client.label(sessionId, version, label.trim());
      toast({ title: `Saved v${version}`, text: label.trim() ? "Labelled versions are kept forever." : "Files and the agent’s memory, as they are now.", icon: "check" });
      onClose();
    } catch (error) {
      setProblem(said(error));
      setBusy(false);
    }
  };
  return (
    <Dialog label="Save a version" onClose={onClose}>
      <form onSubmit={(event) => { event.preventDefault(); void save(); }}>
        <h2>Save a version</h2>
        <p className="sub">Keeps files and the agent’s memory as they are now. If nothing changed, the latest version stays the latest.</p>
        <div className="dlg-fields">
          <label>Label (optional)<input className="inp-line" autoFocus maxLength={100} placeholder="Labelled versions are kept forever" value={label} onChange={(event) => setLabel(event.target.value)} /></label>
        </div>
        {problem && <p className="dlg-bad" role="alert">{problem}</p>}
        <div className="dlg-acts">
          <Button look="line" onClick={onClose}>Cancel</Button>
          <Button type="submit" look="ink" disabled={busy}>{busy ? "Saving…" : "Save version"}</Button>
        </div>
      </form>
    </Dialog>
  );
}
