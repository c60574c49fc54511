import { useWorkspaceFiles, type FileEntry } from "@warren/react";
import { useMemo, useState, type FormEvent } from "react";
import { visible } from "~/lib/ansi";
import { Button } from "~/ui/Button";
import { Confirm } from "~/ui/Confirm";
import { Dialog } from "~/ui/Dialog";
import { MoveDialog } from "./MoveDialog";
import { faultOf, folderOf, nameOf, within } from "./names";
import type { FileActs } from "./useFileActs";

/** What a person is asked about a file or folder. */
export type Asked =
  | { act: "file" | "folder"; folder: string }
  | { act: "rename" | "move" | "delete"; entry: FileEntry };

type Props = { sessionId: string; asked: Asked; acts: FileActs; /** With the path to go on at, if there is one. */ onClose: (path: string | null) => void };

export function FileDialogs({ sessionId, asked, acts, onClose }: Props) {
  switch (asked.act) {
    case "file":
      return <NameDialog sessionId={sessionId} title="New file" action="Create" folder={asked.folder} deep onName={(name) => acts.createFile(asked.folder, name)} onClose={onClose} />;
    case "folder":
      return <NameDialog sessionId={sessionId} title="New folder" action="Create" folder={asked.folder} deep onName={(name) => acts.createFolder(asked.folder, name)} onClose={onClose} />;
    case "rename": {
      const { path, name } = asked.entry;
      return <NameDialog sessionId={sessionId} title={`Rename ${visible(name)}`} action="Rename" folder={folderOf(path)} name={name} onName={(to) => acts.move(path, within(folderOf(path), to))} onClose={onClose} />;
    }
    case "move":
      return <MoveDialog sessionId={sessionId} entry={asked.entry} onMove={acts.move} onClose={onClose} />;
    case "delete":
      return <DeleteDialog entry={asked.entry} acts={acts} onClose={onClose} />;
  }
}

function DeleteDialog({ entry, acts, onClose }: { entry: FileEntry; acts: FileActs; onClose: (path: string | null) => void }) {
  const isFolder = entry.kind === "directory";
  // What was listed when the question was first asked; asked again, it is what is there then.
  const [etag, setEtag] = useState(entry.etag);
  const remove = async () => {
    try {
      await acts.remove({ ...entry, etag });
    } catch (error) {
      setEtag(undefined);
      throw error;
    }
  };
  return (
    <Confirm title={`Delete ${visible(entry.name)}?`} action="Delete" onConfirm={remove} onClose={() => onClose(entry.path)}>
      {isFolder ? "The folder and everything in it is removed from the session." : "The file is removed from the session."} Versions that have it keep it.
    </Confirm>
  );
}

type NameProps = {
  sessionId: string;
  title: string;
  action: string;
  folder: string;
  name?: string;
  deep?: boolean;
  onName: (name: string) => Promise<string>;
  onClose: (path: string | null) => void;
};

function NameDialog({ sessionId, title, action, folder, name: old = "", deep = false, onName, onClose }: NameProps) {
  const { entries } = useWorkspaceFiles(sessionId, folder);
  const taken = useMemo(() => new Set(entries.map((entry) => entry.name).filter((name) => name !== old)), [entries, old]);
  const [text, setText] = useState(old);
  const [isTried, setTried] = useState(false);
  const [busy, setBusy] = useState(false);
  const [failed, setFailed] = useState<string | null>(null);
  const fault = faultOf(text, { deep, taken });
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    setTried(true);
    if (fault !== null) return;
    if (text.trim() === old) return onClose(null);
    setBusy(true);
    setFailed(null);
    try {
      onClose(await onName(text.trim()));
    } catch (error) {
      setFailed(error instanceof Error ? error.message : String(error));
      setBusy(false);
    }
  };
  const complaint = failed ?? (isTried || taken.has(text.trim()) ? fault : null);
  return (
    <Dialog label={title} onClose={() => onClose(null)}>
      <form className="name-form" onSubmit={(event) => void submit(event)} noValidate>
        <h2>{title}</h2>
        <label>
          <span>Name</span>
          <input autoFocus value={text} spellCheck={false} autoComplete="off" aria-invalid={complaint !== null} aria-describedby="name-note" onFocus={(event) => selectStem(event.currentTarget)} onChange={(event) => { setText(event.target.value); setFailed(null); }} />
        </label>
        <p id="name-note" className="sub">{folder === "" ? "In the workspace." : <>In <bdi>{folder}</bdi>.</>}{deep && " Use / to put it into a folder."}</p>
        {complaint && <p className="dlg-bad" role="alert">{complaint}</p>}
        <div className="dlg-acts">
          <Button look="line" onClick={() => onClose(null)}>Cancel</Button>
          <Button look="ink" type="submit" disabled={busy}>{action}</Button>
        </div>
      </form>
    </Dialog>
  );
}

/** Selects a name without its ending, which is what people change. */
function selectStem(field: HTMLInputElement) {
  const dot = nameOf(field.value).lastIndexOf(".");
  field.setSelectionRange(0, dot > 0 ? dot : field.value.length);
}
