import { useState, type ReactNode } from "react";
import { Button } from "./Button";
import { Dialog } from "./Dialog";

type Props = {
  title: string;
  /** What will happen, and what is kept. */
  children: ReactNode;
  action: string;
  onConfirm: () => void | Promise<unknown>;
  onClose: () => void;
};

/** Asks before something that cannot be taken back. Says what failed in place, and stays open. */
export function Confirm({ title, children, action, onConfirm, onClose }: Props) {
  const [busy, setBusy] = useState(false);
  const [failed, setFailed] = useState<string | null>(null);
  const confirm = async () => {
    setBusy(true);
    setFailed(null);
    try {
      await onConfirm();
      onClose();
    } catch (error) {
      setFailed(error instanceof Error ? error.message : String(error));
      setBusy(false);
    }
  };
  return (
    <Dialog label={title} onClose={onClose}>
      <h2>{title}</h2>
      <div className="sub">{children}</div>
      {failed && <p className="dlg-bad" role="alert">{failed}</p>}
      <div className="dlg-acts">
        <Button look="line" onClick={onClose}>Cancel</Button>
        <Button look="ink" disabled={busy} onClick={() => void confirm()}>{action}</Button>
      </div>
    </Dialog>
  );
}
