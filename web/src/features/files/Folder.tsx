import { useWorkspaceFiles, type FileEntry, type FileNews } from "@warren/react";
import { visible } from "~/lib/ansi";
import { useNow } from "~/lib/clockwork";
import { bytes } from "~/lib/format";
import { Icon } from "~/ui/Icon";
import { Skeleton, Unread } from "~/ui/Notice";
import { iconOf } from "../viewers/kinds";
import { inOrder, markOf, notKept, touches } from "./tree";

type Props = {
  sessionId: string;
  path: string;
  depth: number;
  open: ReadonlySet<string>;
  changes: ReadonlyMap<string, FileNews>;
  words: string;
  chosen: string | null;
  onToggle: (path: string, open: boolean) => void;
  onChoose: (path: string) => void;
};

/** What is in a folder; folders inside it are read when they are opened. */
export function Folder(props: Props) {
  const { sessionId, path, depth, words, open } = props;
  const folder = useWorkspaceFiles(sessionId, path);
  if (folder.state === "loading") return <Skeleton rows={depth === 0 ? 8 : 2} />;
  if (folder.state === "failed" && !folder.data) return <Unread title="This folder could not be read" error={folder.error} onAgain={folder.refresh} />;
  const entries = inOrder(folder.entries).filter((entry) => words === "" || entry.kind === "directory" || entry.path.toLowerCase().includes(words));
  if (entries.length === 0 && depth === 0) return <p className="pane-note muted">The workspace is empty. Files the agent writes appear here.</p>;
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

function FolderRow({ entry, isOpen, depth, changes, chosen, onToggle }: Props & { entry: FileEntry; isOpen: boolean }) {
  const isTouched = !isOpen && touches(changes, entry.path);
  const isExcluded = notKept(entry.name);
  return (
    <div className={`fr ${isExcluded ? "muted" : ""}`} role="treeitem" aria-expanded={isOpen} aria-selected={chosen === entry.path} tabIndex={depth === 0 ? 0 : -1} data-path={entry.path} style={indent(depth)} onClick={() => onToggle(entry.path, !isOpen)}>
      <Icon name={isOpen ? "down" : "right"} size="xs" />
      <Icon name="folder" size="s" />
      <bdi className="cut">{visible(entry.name)}</bdi>
      <span className="st">{isExcluded ? "not kept in versions" : isTouched ? <span className="dot run" role="img" aria-label="Changed inside" /> : null}</span>
    </div>
  );
}

/** A change this fresh is still being made. */
const WRITING_MS = 4_000;

function FileRow({ entry, depth, changes, chosen, onChoose }: Props & { entry: FileEntry }) {
  const change = changes.get(entry.path);
  const now = useNow(change !== undefined);
  const isWriting = change !== undefined && now - Date.parse(change.at) < WRITING_MS;
  const mark = markOf(change);
  return (
    <div className={`fr ${chosen === entry.path ? "sel" : ""}`} role="treeitem" aria-selected={chosen === entry.path} tabIndex={depth === 0 || chosen === entry.path ? 0 : -1} data-path={entry.path} style={indent(depth)} onClick={() => onChoose(entry.path)}>
      <Icon name={entry.kind === "symlink" ? "right" : iconOf(entry.path)} size="s" />
      <bdi className="cut">{visible(entry.name)}{entry.target ? ` → ${visible(entry.target)}` : ""}</bdi>
      <span className="st num">
        {isWriting ? <span className="writing">writing now</span> : bytes(entry.sizeBytes)}
        {mark && <span className={`mk ${mark}`} role="img" aria-label={change?.change}>{mark}</span>}
      </span>
    </div>
  );
}
