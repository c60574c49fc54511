import { useWorkspaceFiles, type FileEntry } from "@warren/react";
import type { DragEvent, ReactNode } from "react";
import { visible } from "~/lib/ansi";
import { useNow } from "~/lib/clockwork";
import { bytes } from "~/lib/format";
import { Icon } from "~/ui/Icon";
import { Skeleton, Unread } from "~/ui/Notice";
import { iconOf } from "../viewers/kinds";
import { DRAGGED, isFixed, type TreeProps } from "./FileTree";
import { RowMenu } from "./RowMenu";
import { inOrder, markOf, notKept, touches } from "./tree";

export type FolderProps = TreeProps & {
  path: string;
  depth: number;
  open: ReadonlySet<string>;
  chosen: string | null;
  /** The folder that something is dragged over. */
  over: string | null;
  /** All that is listed, by path: filled here, and read by the tree's keys. */
  known: Map<string, FileEntry>;
  onToggle: (path: string, open: boolean) => void;
  onChoose: (path: string) => void;
};

/** What is in a folder; folders inside it are read when they are opened. */
export function Folder(props: FolderProps) {
  const { sessionId, path, depth, words, open, round, known } = props;
  const folder = useWorkspaceFiles(sessionId, path, round);
  if (folder.state === "loading") return <Skeleton rows={depth === 0 ? 8 : 2} />;
  if (folder.state === "failed" && !folder.data) return <Unread title="This folder could not be read" error={folder.error} onAgain={folder.refresh} />;
  const entries = inOrder(folder.entries).filter((entry) => words === "" || entry.kind === "directory" || entry.path.toLowerCase().includes(words));
  for (const entry of entries) known.set(entry.path, entry);
  if (entries.length === 0) {
    if (depth > 0) return <div className="pane-note muted" style={indent(depth)}>{words === "" ? "Empty folder" : "No match in this folder"}</div>;
    return props.root === "" ? <div className="pane-note muted">The workspace is empty. Files the agent writes appear here.</div> : null;
  }
  return entries.map((entry) =>
    entry.kind === "directory" ? (
      <div key={entry.path} role="none">
        <FolderRow {...props} entry={entry} isOpen={open.has(entry.path) || words !== ""} />
        {(open.has(entry.path) || (words !== "" && !notKept(entry.name))) && <div role="group"><Folder {...props} path={entry.path} depth={depth + 1} /></div>}
      </div>
    ) : (
      <FileRow key={entry.path} {...props} entry={entry} />
    ),
  );
}

const indent = (depth: number) => ({ paddingLeft: 8 + depth * 22 });

type RowProps = FolderProps & { entry: FileEntry };

function Row({ entry, depth, chosen, over, mayChange, onAsk, isExpanded, look, onPress, children }: RowProps & { isExpanded?: boolean; look?: string; onPress: () => void; children: ReactNode }) {
  const isMovable = mayChange && !isFixed(entry);
  const onDragStart = (event: DragEvent) => {
    event.dataTransfer.setData(DRAGGED, entry.path);
    event.dataTransfer.effectAllowed = "move";
  };
  return (
    <div
      className={`fr ${chosen === entry.path ? "sel" : ""} ${over === entry.path ? "over" : ""} ${look ?? ""}`}
      role="treeitem"
      aria-level={depth + 1}
      aria-expanded={isExpanded}
      aria-selected={chosen === entry.path}
      tabIndex={-1}
      data-path={entry.path}
      style={indent(depth)}
      draggable={isMovable}
      onDragStart={isMovable ? onDragStart : undefined}
      onClick={onPress}
    >
      {children}
      {mayChange && <RowMenu entry={entry} isFixed={isFixed(entry)} onAsk={onAsk} />}
    </div>
  );
}

function FolderRow(props: RowProps & { isOpen: boolean }) {
  const { entry, isOpen, changes, onToggle } = props;
  const isTouched = !isOpen && touches(changes, entry.path);
  const isExcluded = notKept(entry.name);
  return (
    <Row {...props} isExpanded={isOpen} look={isExcluded ? "muted" : ""} onPress={() => onToggle(entry.path, !isOpen)}>
      <Icon name={isOpen ? "down" : "right"} size="xs" />
      <Icon name="folder" size="s" />
      <bdi className="cut">{visible(entry.name)}</bdi>
      <span className="st">{isExcluded ? "not kept in versions" : isTouched ? <span className="dot run" role="img" aria-label="Changed inside" /> : null}</span>
    </Row>
  );
}

/** A change this fresh is still being made. */
const WRITING_MS = 4_000;

function FileRow(props: RowProps) {
  const { entry, changes, unsaved, isRunning, onChoose } = props;
  const change = changes.get(entry.path);
  const now = useNow(change !== undefined && isRunning);
  const isWriting = change !== undefined && isRunning && now - Date.parse(change.at) < WRITING_MS;
  const mark = markOf(change);
  return (
    <Row {...props} onPress={() => onChoose(entry.path)}>
      <Icon name={entry.kind === "symlink" ? "right" : iconOf(entry.path)} size="s" />
      <bdi className="cut">{visible(entry.name)}{entry.target ? ` → ${visible(entry.target)}` : ""}</bdi>
      <span className="st num">
        {unsaved.has(entry.path) && <span className="unsaved">not saved</span>}
        {isWriting ? <span className="writing">writing now</span> : bytes(entry.sizeBytes)}
        {mark && <span className={`mk ${mark}`} role="img" aria-label={change?.movedFrom ? `renamed from ${change.movedFrom}` : change?.change} title={change?.movedFrom ? `Renamed from ${change.movedFrom}` : undefined}>{mark}</span>}
      </span>
    </Row>
  );
}
