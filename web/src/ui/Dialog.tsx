import { useEffect, useRef, type ReactNode } from "react";

type Props = { label: string; onClose: () => void; className?: string; children: ReactNode };

/**
 * A modal dialog. The browser's own element traps the focus, gives it back and closes on Escape, and needs no styles
 * put into the document at run time, which the page's policy would refuse.
 */
export function Dialog({ label, onClose, className = "dlg", children }: Props) {
  const ref = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const dialog = ref.current;
    if (dialog && !dialog.open) dialog.showModal();
    return () => dialog?.close();
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
