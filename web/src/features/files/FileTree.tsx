import type { FileEntry } from "@warren/react";
import { useRef, useState, type DragEvent, type FocusEvent, type KeyboardEvent } from "react";
import type { Asked } from "./FileDialogs";
import { Folder } from "./Folder";
import { targetOf } from "./names";
import { changePlace, usePlace } from "./place";
import type { Unsaved } from "./unsaved";

/** What the tree knows of whatever is dragged: the browser tells where it came from only when it is dropped. */
export const DRAGGED = "application/x-warren-path";

export type TreeProps = {
  sessionId: string;
  /** The folder the tree begins with. */
  root: string;
  label: string;
  /** Files that differ from the latest version. */
  changes: ReadonlyMap<string, Unsaved>;
  /** Changes when folders are to be read again. */
  round: number;
  words: string;
  unsaved: ReadonlySet<string>;
  mayChange: boolean;
  /** An agent may be writing. */
  isRunning: boolean;
  onAsk: (asked: Asked) => void;
  onMove: (from: string, folder: string) => void;
};

/** A tree by the ARIA pattern: up and down move, right opens, left closes or goes to the folder. One stop for Tab. */
export function FileTree(props: TreeProps) {
  const { sessionId, root, label, mayChange, onAsk, onMove } = props;
  const { chosen, open } = usePlace(sessionId);
  const [isInside, setInside] = useState(false);
  const [over, setOver] = useState<string | null>(null);
  const entries = useRef(new Map<string, FileEntry>());
  const last = useRef<string | null>(null);
  const toggle = (path: string, to: boolean) =>
    changePlace(sessionId, (place) => {
      const next = new Set(place.open);
      if (to) next.add(path);
      else next.delete(path);
      return { open: next };
    });
  const onFocus = (event: FocusEvent<HTMLDivElement>) => {
    setInside(true);
    const row = (event.target as Element).closest<HTMLElement>("[role=treeitem]");
    if (row) last.current = row.dataset.path ?? null;
    if (event.target !== event.currentTarget) return;
    const rows = rowsIn(event.currentTarget);
    (rows.find((one) => one.dataset.path === (last.current ?? chosen)) ?? rows[0])?.focus();
  };
  const onKeyDown = (event: KeyboardEvent<HTMLDivElement>) => {
    const rows = rowsIn(event.currentTarget);
    const at = rows.indexOf(document.activeElement as HTMLElement);
    const row = rows[at];
    const path = row?.dataset.path ?? "";
    const entry = entries.current.get(path);
    const ask = (act: "rename" | "delete") => (entry && mayChange && !isFixed(entry) ? onAsk({ act, entry }) : undefined);
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
      case "F2": ask("rename"); break;
      case "Delete": ask("delete"); break;
      case "ContextMenu": row?.querySelector<HTMLElement>("[aria-haspopup=menu]")?.click(); break;
      case "F10":
        if (!event.shiftKey) return;
        row?.querySelector<HTMLElement>("[aria-haspopup=menu]")?.click();
        break;
      default: return;
    }
    event.preventDefault();
  };
  const drag = {
    onDragOver: (event: DragEvent) => {
      if (!mayChange || !event.dataTransfer.types.includes(DRAGGED)) return;
      event.preventDefault();
      event.dataTransfer.dropEffect = "move";
      setOver(folderAt(event, root, entries.current));
    },
    onDragLeave: (event: DragEvent) => {
      if (!(event.relatedTarget instanceof Node && event.currentTarget.contains(event.relatedTarget))) setOver(null);
    },
    onDrop: (event: DragEvent) => {
      const from = event.dataTransfer.getData(DRAGGED);
      setOver(null);
      if (!mayChange || from === "") return;
      event.preventDefault();
      event.stopPropagation();
      const folder = folderAt(event, root, entries.current);
      if (targetOf(from, folder) !== null) onMove(from, folder);
    },
  };
  return (
    <div
      className={`tree ${over === root ? "over" : ""}`}
      role="tree"
      aria-label={label}
      tabIndex={isInside ? -1 : 0}
      onFocus={onFocus}
      onBlur={(event) => event.currentTarget.contains(event.relatedTarget) || setInside(false)}
      onKeyDown={onKeyDown}
      {...drag}
    >
      <Folder {...props} path={root} depth={0} open={open} chosen={chosen} over={over} known={entries.current} words={props.words.toLowerCase()} onToggle={toggle} onChoose={(path) => changePlace(sessionId, () => ({ chosen: path }))} />
    </div>
  );
}

const rowsIn = (tree: HTMLElement): HTMLElement[] => [...tree.querySelectorAll<HTMLElement>("[role=treeitem]")];

/** `outputs` is where agents put what is to be seen: it is always there. */
export const isFixed = (entry: FileEntry): boolean => entry.path === "outputs";

/** The folder something would be dropped into: the one under the pointer, or that of the file under it. */
function folderAt(event: DragEvent, root: string, entries: ReadonlyMap<string, FileEntry>): string {
  const path = (event.target as Element).closest<HTMLElement>("[role=treeitem]")?.dataset.path;
  if (path === undefined) return root;
  return entries.get(path)?.kind === "directory" ? path : path.slice(0, Math.max(root.length, path.lastIndexOf("/")));
}
