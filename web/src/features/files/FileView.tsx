import { received, useResource, useVersions, useWarrenClient, WarrenError, type FileNews, type WarrenClient } from "@warren/react";
import { useMemo, useState } from "react";
import { compare } from "~/lib/diff";
import { useNow } from "~/lib/clockwork";
import { Button } from "~/ui/Button";
import { DiffView } from "~/ui/DiffView";
import { Icon } from "~/ui/Icon";
import { Empty, Skeleton, Unread } from "~/ui/Notice";
import { usePerson } from "../shell/person";
import { viewOf } from "../viewers/kinds";
import { asText, useContent } from "../viewers/useContent";
import { Viewer } from "../viewers/Viewer";
import { useEdits } from "./edits";
import { FileEditor } from "./FileEditor";

type Mode = "view" | "since" | "edit";
type Props = { sessionId: string; path: string; change: FileNews | undefined; /** An agent may be writing. */ isRunning: boolean; /** A file that was just made is there to be written. */ isNew: boolean; onClose: () => void };

/** One file: as it is, since the last version, or to be edited. */
export function FileView({ sessionId, path, change, isRunning, isNew, onClose }: Props) {
  const client = useWarrenClient();
  const { versions } = useVersions(sessionId, { since: Infinity });
  const { mayRun } = usePerson();
  const isUnsaved = useEdits(sessionId).has(path);
  const [mode, setMode] = useState<Mode>(isNew || isUnsaved ? "edit" : "view");
  const now = useNow(change !== undefined && isRunning);
  const isWriting = change !== undefined && isRunning && now - Date.parse(change.at) < 4_000;
  const folder = path.split("/").slice(0, -1);
  const last = versions[0]?.version;
  const isText = ["text", "markdown", "csv"].includes(viewOf(path));
  const isVersioned = isText && !path.startsWith("/") && last !== undefined && last > 0;
  const address = `/api/sessions/${encodeURIComponent(sessionId)}/fs/read?path=${encodeURIComponent(path)}`;
  return (
    <section className="viewer" aria-label={path}>
      <div className="vh-bar">
        <span className="cut" title={path}><span className="sub">{folder.map((part) => `${part} / `)}</span><b><bdi>{path.split("/").at(-1)}</bdi></b></span>
        {isUnsaved && <span className="chip warn">not saved</span>}
        {isWriting && <span className="chip acc">agent is writing</span>}
        <span className="grow" />
        {isVersioned && <Button aria-pressed={mode === "since"} onClick={() => setMode(mode === "since" ? (isUnsaved ? "edit" : "view") : "since")}>Since v{last}</Button>}
        {isText && mayRun && mode !== "edit" && <Button onClick={() => setMode("edit")}>Edit</Button>}
        <a className="btn ghost sq" href={address} download={path.split("/").at(-1)} aria-label="Download"><Icon name="dl" size="s" /></a>
        <Button icon="x" aria-label="Close the file" onClick={onClose} />
      </div>
      {mode === "view" && <Viewer id={`file ${sessionId} ${path}`} path={path} stamp={change?.seq} load={() => client.readFile(sessionId, path)} convert={() => client.convertFile(sessionId, path)} download={address} />}
      {mode === "since" && last !== undefined && <Since sessionId={sessionId} path={path} version={last} stamp={change?.seq} />}
      {mode === "edit" && <FileEditor sessionId={sessionId} path={path} stamp={change?.seq} onDone={() => setMode("view")} />}
    </section>
  );
}

/** The file now beside what it was in a version. */
function Since({ sessionId, path, version, stamp }: { sessionId: string; path: string; version: number; stamp: unknown }) {
  const client = useWarrenClient();
  const now = useContent(`file ${sessionId} ${path}`, () => client.readFile(sessionId, path), stamp);
  const old = useResource(`file ${sessionId} ${version} ${path}`, () => textThen(client, sessionId, version, path));
  const before = old.data;
  const text = now.data ? asText(now.data.bytes) : null;
  const diff = useMemo(() => (before !== undefined && text !== null ? compare(before, text) : null), [before, text]);
  const unread = [old, now].find((one) => one.state === "failed" && one.data === undefined);
  if (unread) return <Unread title="It could not be compared" error={unread.error} onAgain={unread.refresh} />;
  if (!diff) return <Skeleton rows={8} height={20} />;
  if (diff.hunks.length === 0) return <Empty icon="diff">Nothing differs from v{version}.</Empty>;
  return <div className="cmp-diff"><DiffView path={path} diff={diff} label={`${path} since version ${version}`} /></div>;
}

/** What a version kept of a file: nothing, if the file came after it. */
async function textThen(client: WarrenClient, sessionId: string, version: number, path: string): Promise<string> {
  try {
    return await received((await client.readVersionFile(sessionId, version, path)).text());
  } catch (error) {
    if (error instanceof WarrenError && error.status === 404) return "";
    throw error;
  }
}
