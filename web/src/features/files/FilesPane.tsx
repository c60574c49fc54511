import { useAgentSession, useWarrenClient, useWorkspaceFiles } from "@warren/react";
import { useMemo, useRef, useState } from "react";
import { plural } from "~/lib/format";
import { Button } from "~/ui/Button";
import { Icon } from "~/ui/Icon";
import { Behind, Unread } from "~/ui/Notice";
import { toast } from "~/ui/toasts";
import { usePerson } from "../shell/person";
import { useEdits } from "./edits";
import { FileDialogs, type Asked } from "./FileDialogs";
import { FileTree, type TreeProps } from "./FileTree";
import { FileView } from "./FileView";
import { hasGone } from "./gone";
import { nameOf } from "./names";
import { changePlace, usePlace } from "./place";
import { FOLDER, placeAll, Taken, takenNames, type How } from "./placing";
import { toRow } from "./toRow";
import { useUnsavedFiles } from "./unsaved";
import { UploadFailed, type FailedUpload } from "./UploadFailed";
import { dropOn, useFileActs } from "./useFileActs";

/** The session's files as they are now: a tree, what people uploaded, and one of them. */
export function FilesPane({ sessionId }: { sessionId: string }) {
  const client = useWarrenClient();
  const { acts, round } = useFileActs(sessionId);
  const root = useWorkspaceFiles(sessionId, "", round);
  const uploads = useWorkspaceFiles(sessionId, FOLDER, round);
  const isRunning = useAgentSession(sessionId).activeRun !== null;
  const { mayRun } = usePerson();
  const { chosen } = usePlace(sessionId);
  const edits = useEdits(sessionId);
  const unsaved = useMemo(() => new Set(edits.keys()), [edits]);
  const [words, setWords] = useState("");
  const [asked, setAsked] = useState<Asked | null>(null);
  const [made, setMade] = useState<string | null>(null);
  const [dropping, setDropping] = useState(false);
  const [sending, setSending] = useState<number | null>(null);
  const [failed, setFailed] = useState<FailedUpload | null>(null);
  const picker = useRef<HTMLInputElement>(null);
  const { files: changes, version, isKnown } = useUnsavedFiles(sessionId);
  const isGone = chosen !== null && !unsaved.has(chosen) && (!isKnown || hasGone(chosen, root.changes, changes, uploads.data?.entries));
  const send = async (files: readonly File[], how: How = "new") => {
    if (files.length === 0) return;
    setSending(files.length);
    setFailed(null);
    try {
      await placeAll(client, sessionId, files, how);
      toast({ title: `${plural(files.length, "file")} uploaded`, text: "The agent finds them in /user-input.", icon: "upl" });
    } catch (error) {
      const isTaken = error instanceof Taken;
      const names = isTaken ? await takenNames(client, sessionId, files) : [];
      setFailed({ files, isTaken, why: isTaken && names.length > 0 ? `${names.join(", ")} already ${names.length === 1 ? "exists" : "exist"}.` : error instanceof Error ? error.message : String(error) });
    } finally {
      acts.refresh();
      setSending(null);
    }
  };
  const close = (path: string | null) => {
    const from = asked && "entry" in asked ? asked.entry.path : null;
    if (asked?.act === "file" && path !== null) setMade(path);
    setAsked(null);
    // A new file is there to be written; else the tree has the focus again.
    if (asked?.act !== "file" || path === null) toRow(path ?? from);
  };
  const tree: Omit<TreeProps, "root" | "label"> = { sessionId, changes, round, words, unsaved, mayChange: mayRun, isRunning, onAsk: setAsked, onMove: (from, folder) => void dropOn(acts, from, folder) };
  return (
    <div
      className={`files-pane ${dropping ? "drop" : ""}`}
      onDragOver={(event) => { if (mayRun && event.dataTransfer.types.includes("Files")) { event.preventDefault(); setDropping(true); } }}
      onDragLeave={() => setDropping(false)}
      onDrop={(event) => { event.preventDefault(); setDropping(false); if (mayRun) void send([...event.dataTransfer.files]); }}
    >
      <div className="ptool">
        <label className="find grow find-s">
          <Icon name="search" size="s" />
          <span className="vh">Filter files</span>
          <input placeholder="Filter files" value={words} onChange={(event) => setWords(event.target.value)} />
        </label>
        {mayRun && <Button look="line" icon="plus" onClick={() => setAsked({ act: "file", folder: "" })}>File</Button>}
        {mayRun && <Button look="line" icon="plus" onClick={() => setAsked({ act: "folder", folder: "" })}>Folder</Button>}
        {mayRun && <Button look="line" icon="upl" aria-label={sending ? `Uploading ${plural(sending, "file")}` : "Upload files"} disabled={sending !== null} onClick={() => picker.current?.click()} />}
        <a className="btn line sq" href={`/api/sessions/${encodeURIComponent(sessionId)}/fs/archive?path=`} download aria-label="Download the workspace" title="Download the workspace as .tar.gz"><Icon name="dl" size="s" /></a>
        <input ref={picker} type="file" multiple hidden onChange={(event) => { void send([...(event.target.files ?? [])]); event.target.value = ""; }} />
      </div>
      {failed && <UploadFailed failed={failed} onAgain={(how) => void send(failed.files, how)} onLeave={() => setFailed(null)} />}
      <Unsaved paths={[...unsaved].filter((path) => path !== chosen)} onOpen={(path) => changePlace(sessionId, () => ({ chosen: path }))} />
      {root.data?.source === "version" && <p className="pane-note muted">Sandbox paused. These are the files of the last saved version.</p>}
      {root.state === "failed" && root.data && <Behind error={root.error} onAgain={root.refresh} />}
      {root.state === "failed" && !root.data ? (
        <Unread title="The files could not be read" error={root.error} onAgain={root.refresh} />
      ) : (
        <div className="trees">
          <FileTree {...tree} root="" label="Workspace" />
          {uploads.entries.length > 0 && (
            <section className="uploads" aria-label="Uploads">
              <h3>Uploads <small className="num">{uploads.entries.length}</small><span className="sub">in /user-input</span><span className="grow" /><a className="btn ghost sq" href={`/api/sessions/${encodeURIComponent(sessionId)}/fs/archive?path=${encodeURIComponent(FOLDER)}`} download aria-label="Download the uploads" title="Download the uploads as .tar.gz"><Icon name="dl" size="s" /></a></h3>
              <FileTree {...tree} root={FOLDER} label="Uploads" />
            </section>
          )}
        </div>
      )}
      {/* Another when it is known to be new: that may be a moment after it was chosen. */}
      {chosen !== null && !isGone && <FileView key={`${chosen}${chosen === made ? " new" : ""}`} sessionId={sessionId} path={chosen} change={root.changes.find((one) => one.path === chosen)} unsaved={changes.get(chosen)} version={version} isRunning={isRunning} isNew={chosen === made} onClose={() => { changePlace(sessionId, () => ({ chosen: null })); toRow(chosen); }} />}
      {asked && <FileDialogs sessionId={sessionId} asked={asked} acts={acts} onClose={close} />}
    </div>
  );
}

/** Files with text that was typed and not saved, wherever they are. */
function Unsaved({ paths, onOpen }: { paths: readonly string[]; onOpen: (path: string) => void }) {
  if (paths.length === 0) return null;
  return (
    <div className="pane-unsaved" role="group" aria-label="Unsaved edits">
      <Icon name="pencil" size="s" />
      <span>Unsaved edits:</span>
      {paths.map((path) => <Button key={path} look="line" title={path} onClick={() => onOpen(path)}>{nameOf(path)}</Button>)}
    </div>
  );
}
