import { useLayoutEffect, useRef, type ReactNode } from "react";
import { giveBack } from "~/lib/focus";

type Props = { label: string; onClose: () => void; className?: string; children: ReactNode };

/**
 * A modal dialog. The browser's own element traps the focus and closes on Escape, and needs no styles put into the
 * document at run time, which the page's policy would refuse. When it closes, the focus goes to the message.
 */
export function Dialog({ label, onClose, className = "dlg", children }: Props) {
  const ref = useRef<HTMLDialogElement>(null);
  useLayoutEffect(() => {
    const dialog = ref.current;
    const from = document.activeElement;
    if (dialog && !dialog.open) dialog.showModal();
    return () => {
      dialog?.close();
      giveBack(from);
    };
  }, []);
  return (
    <dialog
      ref={ref}
      className={className}
      aria-label={label}
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
      onClick={(event) => event.target === event.currentTarget && onClose()}
    >
      {children}
    </dialog>
  );
}
