import { useState, type KeyboardEvent } from "react";
import type { FileNews } from "@warren/react";
import { Folder } from "./Folder";

type Props = {
  sessionId: string;
  changes: ReadonlyMap<string, FileNews>;
  words: string;
  chosen: string | null;
  onChoose: (path: string) => void;
};

/** A tree by the ARIA pattern: up and down move, right opens, left closes or goes to the folder. */
export function FileTree({ sessionId, changes, words, chosen, onChoose }: Props) {
  const [open, setOpen] = useState<ReadonlySet<string>>(new Set(["outputs", "src"]));
  const toggle = (path: string, to: boolean) =>
    setOpen((old) => {
      const next = new Set(old);
      if (to) next.add(path);
      else next.delete(path);
      return next;
    });
  const onKeyDown = (event: KeyboardEvent<HTMLDivElement>) => {
    const rows = [...event.currentTarget.querySelectorAll<HTMLElement>("[role=treeitem]")];
    const at = rows.indexOf(document.activeElement as HTMLElement);
    const row = rows[at];
    const path = row?.dataset.path ?? "";
    const go = (to: HTMLElement | undefined) => to?.focus();
    switch (event.key) {
      case "ArrowDown": go(rows[at + 1]); break;
      case "ArrowUp": go(rows[at - 1]); break;
      case "Home": go(rows[0]); break;
      case "End": go(rows.at(-1)); break;
      case "ArrowRight":
        if (row?.ariaExpanded === "false") toggle(path, true);
        else go(rows[at + 1]);
        break;
      case "ArrowLeft":
        if (row?.ariaExpanded === "true") toggle(path, false);
        else go(rows.find((other) => other.dataset.path === path.split("/").slice(0, -1).join("/")));
        break;
      case "Enter":
      case " ": row?.click(); break;
      default: return;
    }
    event.preventDefault();
  };
  return (
    <div className="tree" role="tree" aria-label="Workspace" onKeyDown={onKeyDown}>
      <Folder sessionId={sessionId} path="" depth={0} open={open} onToggle={toggle} changes={changes} words={words.toLowerCase()} chosen={chosen} onChoose={onChoose} />
    </div>
  );
}
