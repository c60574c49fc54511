import { useState } from "react";
import { Button } from "~/ui/Button";
import { Dialog } from "~/ui/Dialog";
import { KEYS } from "./keys";
import { lettersAct } from "./letters";

/** All keys, and the switch for single letters. */
export function KeysDialog({ onClose }: { onClose: () => void }) {
  const [letters, setLetters] = useState(lettersAct);
  const set = (on: boolean) => {
    localStorage.setItem("warren.letters", on ? "on" : "off");
    setLetters(on);
  };
  return (
    <Dialog label="Keys" onClose={onClose} className="dlg keys">
      <h2>Keys</h2>
      <dl tabIndex={0} aria-label="Keys">
        {KEYS.map(({ keys, does }) => (
          <div key={does}>
            <dt>{keys.map((key) => <kbd key={key}>{key}</kbd>)}</dt>
            <dd>{does}</dd>
          </div>
        ))}
      </dl>
      <label className="row">
        <input type="checkbox" checked={letters} onChange={(event) => set(event.target.checked)} />
        Enable single-key shortcuts
      </label>
      <div className="dlg-acts">
        <Button look="line" autoFocus onClick={onClose}>Close</Button>
      </div>
    </Dialog>
  );
}
