import { useWarrenClient, type FileNews } from "@warren/react";
import { useState } from "react";
import { useNow } from "~/lib/clockwork";
import { Button } from "~/ui/Button";
import { Icon } from "~/ui/Icon";
import { usePerson } from "../shell/person";
import { viewOf } from "../viewers/kinds";
import { Viewer } from "../viewers/Viewer";
import { useEdits } from "./edits";
import { FileEditor } from "./FileEditor";
import { Since } from "./Since";
import { notKept } from "./tree";
import type { Unsaved } from "./unsaved";

type Mode = "view" | "since" | "edit";
type Props = { sessionId: string; path: string; /** Its last change that this page has seen. */ change: FileNews | undefined; /** What became of it since the latest version. */ unsaved: Unsaved | undefined; /** The latest version, once it is known. */ version: number | null; /** An agent may be writing. */ isRunning: boolean; /** A file that was just made is there to be written. */ isNew: boolean; onClose: () => void };

/** One file: as it is, since the last version, or to be edited. */
export function FileView({ sessionId, path, change, unsaved, version, isRunning, isNew, onClose }: Props) {
  const client = useWarrenClient();
  const { mayRun } = usePerson();
  const isUnsaved = useEdits(sessionId).has(path);
  const [mode, setMode] = useState<Mode>(isNew || isUnsaved ? "edit" : "view");
  const now = useNow(change !== undefined && isRunning);
  const isWriting = change !== undefined && isRunning && now - Date.parse(change.at) < 4_000;
  const folder = path.split("/").slice(0, -1);
  const isText = ["text", "markdown", "csv"].includes(viewOf(path));
  const isVersioned = isText && !path.startsWith("/") && version !== null && version > 0 && !folder.some(notKept);
  const address = `/api/sessions/${encodeURIComponent(sessionId)}/fs/read?path=${encodeURIComponent(path)}`;
  return (
    <section className="viewer" aria-label={path}>
      <div className="vh-bar">
        <span className="cut" title={path}><span className="sub">{folder.map((part) => `${part} / `)}</span><b><bdi>{path.split("/").at(-1)}</bdi></b></span>
        {isUnsaved && <span className="chip warn">not saved</span>}
        {isWriting && <span className="chip acc">agent is writing</span>}
        <span className="grow" />
        {isVersioned && <Button aria-pressed={mode === "since"} onClick={() => setMode(mode === "since" ? (isUnsaved ? "edit" : "view") : "since")}>Since v{version}</Button>}
        {isText && mayRun && mode !== "edit" && <Button onClick={() => setMode("edit")}>Edit</Button>}
        <a className="btn ghost sq" href={address} download={path.split("/").at(-1)} aria-label="Download"><Icon name="dl" size="s" /></a>
        <Button icon="x" aria-label="Close the file" onClick={onClose} />
      </div>
      {mode === "view" && <Viewer id={`file ${sessionId} ${path}`} path={path} stamp={change?.seq} load={() => client.readFile(sessionId, path)} convert={() => client.convertFile(sessionId, path)} download={address} />}
      {mode === "since" && version !== null && <Since sessionId={sessionId} path={path} version={version} unsaved={unsaved} stamp={change?.seq} />}
      {mode === "edit" && <FileEditor sessionId={sessionId} path={path} stamp={change?.seq} onDone={() => setMode("view")} />}
    </section>
  );
}
