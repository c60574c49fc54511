import { useVersions, useWarrenClient, useWorkspaceFiles, type FileNews } from "@warren/react";
import { useMemo, useRef, useState } from "react";
import { plural } from "~/lib/format";
import { Button } from "~/ui/Button";
import { Icon } from "~/ui/Icon";
import { Behind, Unread } from "~/ui/Notice";
import { toast } from "~/ui/toasts";
import { usePerson } from "../shell/person";
import { FileView } from "./FileView";
import { FileTree } from "./FileTree";
import { placeAll, Taken, type How } from "./placing";

/** The session's files as they are now: a tree, and one of them. */
export function FilesPane({ sessionId }: { sessionId: string }) {
  const client = useWarrenClient();
  const root = useWorkspaceFiles(sessionId, "");
  const { versions } = useVersions(sessionId, { since: Infinity });
  const { mayRun } = usePerson();
  const [words, setWords] = useState("");
  const [chosen, setChosen] = useState<string | null>(null);
  const [dropping, setDropping] = useState(false);
  const [sending, setSending] = useState<number | null>(null);
  const [failed, setFailed] = useState<{ files: readonly File[]; why: string; isTaken: boolean } | null>(null);
  const picker = useRef<HTMLInputElement>(null);
  const saved = versions[0]?.seq ?? 0;
  const changes = useMemo(() => new Map(root.changes.filter((change) => change.seq > saved).map((change): [string, FileNews] => [change.path, change])), [root.changes, saved]);
  const send = async (files: readonly File[], how: How = "new") => {
    if (files.length === 0) return;
    setSending(files.length);
    setFailed(null);
    try {
      await placeAll(client, sessionId, files, how);
      toast({ title: `${plural(files.length, "file")} uploaded`, text: "The agent finds them in user-input/.", icon: "upl" });
      await root.refresh();
    } catch (error) {
      setFailed({ files, why: error instanceof Error ? error.message : String(error), isTaken: error instanceof Taken });
    } finally {
      setSending(null);
    }
  };
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
        {mayRun && <Button look="line" icon="upl" aria-label={sending ? `Uploading ${plural(sending, "file")}` : "Upload files"} disabled={sending !== null} onClick={() => picker.current?.click()} />}
        <a className="btn line sq" href={`/api/sessions/${encodeURIComponent(sessionId)}/fs/archive?path=`} download aria-label="Download all as archive"><Icon name="dl" size="s" /></a>
        <input ref={picker} type="file" multiple hidden onChange={(event) => { void send([...(event.target.files ?? [])]); event.target.value = ""; }} />
      </div>
      {failed && (
        <div className="pane-failed" role="alert">
          <Icon name="alert" size="s" />
          <span className="grow">{failed.files.length === 1 ? <><bdi>{failed.files[0]?.name}</bdi> was</> : `${failed.files.length} files were`} not uploaded: {failed.isTaken && failed.files.length > 1 ? "A file of one of these names is already there." : failed.why}</span>
          {failed.isTaken ? (
            <>
              <Button look="line" onClick={() => void send(failed.files, "replace")}>Replace</Button>
              <Button look="line" onClick={() => void send(failed.files, "both")}>Keep both</Button>
            </>
          ) : (
            <Button look="line" onClick={() => void send(failed.files, "again")}>Try again</Button>
          )}
          <Button icon="x" className="tiny" aria-label="Leave it" onClick={() => setFailed(null)} />
        </div>
      )}
      {root.data?.source === "version" && <p className="pane-note muted">The sandbox sleeps; these are the files of the last version.</p>}
      {root.state === "failed" && root.data && <Behind error={root.error} onAgain={root.refresh} />}
      {root.state === "failed" && !root.data ? (
        <Unread title="The files could not be read" error={root.error} onAgain={root.refresh} />
      ) : (
        <FileTree sessionId={sessionId} changes={changes} words={words} chosen={chosen} onChoose={setChosen} />
      )}
      {chosen !== null && <FileView key={chosen} sessionId={sessionId} path={chosen} change={changes.get(chosen)} onClose={() => setChosen(null)} />}
    </div>
  );
}
