import { useWorkspaceFiles, type FileEntry } from "@warren/react";
import { useState } from "react";
import { visible } from "~/lib/ansi";
import { Button } from "~/ui/Button";
import { Dialog } from "~/ui/Dialog";
import { Icon } from "~/ui/Icon";
import { Skeleton, Unread } from "~/ui/Notice";
import { folderOf, nameOf, targetOf, volumeOf } from "./names";
import { inOrder } from "./tree";

type Props = { sessionId: string; entry: FileEntry; onMove: (from: string, to: string) => Promise<string>; onClose: (path: string | null) => void };

/** Chooses a folder by walking through them. */
export function MoveDialog({ sessionId, entry, onMove, onClose }: Props) {
  const [folder, setFolder] = useState(folderOf(entry.path));
  const [busy, setBusy] = useState(false);
  const [failed, setFailed] = useState<string | null>(null);
  const listed = useWorkspaceFiles(sessionId, folder);
  const root = volumeOf(entry.path);
  const inside = inOrder(listed.entries).filter((other) => other.kind === "directory" && other.path !== entry.path);
  const to = targetOf(entry.path, folder);
  const isTaken = to !== null && listed.entries.some((other) => other.name === entry.name);
  const move = async () => {
    if (to === null) return;
    setBusy(true);
    setFailed(null);
    try {
      onClose(await onMove(entry.path, to));
    } catch (error) {
      setFailed(error instanceof Error ? error.message : String(error));
      setBusy(false);
    }
  };
  const title = `Move ${visible(entry.name)}`;
  const shown = folder === root ? (root === "" ? "Workspace" : "Uploads") : folder;
  return (
    <Dialog label={title} onClose={() => onClose(null)}>
      <h2>{title}</h2>
      <p className="sub" aria-live="polite">To <b><bdi>{visible(shown)}</bdi></b></p>
      <div className="folder-list" role="group" aria-label={`Folders in ${shown}`}>
        {folder !== root && <FolderButton name={`Up to ${visible(folderOf(folder)) || "the workspace"}`} icon="up" onPress={() => setFolder(folderOf(folder))} />}
        {listed.state === "loading" && <Skeleton rows={3} />}
        {listed.state === "failed" && !listed.data && <Unread title="This folder could not be read" error={listed.error} onAgain={listed.refresh} />}
        {inside.map((other) => <FolderButton key={other.path} name={other.name} icon="folder" onPress={() => setFolder(other.path)} />)}
        {listed.data && inside.length === 0 && <p className="pane-note muted">No folders in here.</p>}
      </div>
      {isTaken && <p className="dlg-bad">“{visible(nameOf(entry.path))}” already exists there.</p>}
      {failed && <p className="dlg-bad" role="alert">{failed}</p>}
      <div className="dlg-acts">
        <Button look="line" onClick={() => onClose(null)}>Cancel</Button>
        <Button look="ink" disabled={busy || to === null || isTaken} onClick={() => void move()}>Move here</Button>
      </div>
    </Dialog>
  );
}

function FolderButton({ name, icon, onPress }: { name: string; icon: "up" | "folder"; onPress: () => void }) {
  return (
    <button type="button" className="fr" onClick={onPress}>
      <Icon name={icon} size="s" />
      <bdi className="cut">{visible(name)}</bdi>
      <span className="st">{icon === "folder" && <Icon name="right" size="xs" />}</span>
    </button>
  );
}
