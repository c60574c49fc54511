import { useAgentSession, useWarrenClient, type Artifact } from "@warren/react";
import { useRef, useState } from "react";
import { bytes } from "~/lib/format";
import { Button } from "~/ui/Button";
import { Dot } from "~/ui/Dot";
import { Icon } from "~/ui/Icon";
import { Segment } from "~/ui/Segment";
import { hasSource, KINDS } from "../viewers/kinds";
import { Viewer } from "../viewers/Viewer";
import { AppCode } from "./AppCode";
import { Preview } from "./Preview";
import { useOwnReload } from "./useOwnReload";

type Props = { sessionId: string; artifact: Artifact };

/** One artifact: what it looks like, or its source. */
export function ArtifactFrame({ sessionId, artifact }: Props) {
  const client = useWarrenClient();
  const frame = useRef<HTMLDivElement>(null);
  const [mode, setMode] = useState<"preview" | "code">("preview");
  const [isPhone, setPhone] = useState(false);
  const [round, setRound] = useState(0);
  const [seen, setSeen] = useState(artifact.hash ?? artifact.updatedSeq);
  const now = artifact.hash ?? artifact.updatedSeq;
  const runs = artifact.kind === "web_app" || artifact.kind === "html";
  const isStale = runs && seen !== now;
  const reload = () => {
    setSeen(now);
    setRound((n) => n + 1);
  };
  const touch = useOwnReload(frame, useAgentSession(sessionId).activeRun !== null, isStale, reload);
  const source = `/api/sessions/${encodeURIComponent(sessionId)}/artifacts/${encodeURIComponent(artifact.id)}/content`;
  return (
    <div className="frame" ref={frame} {...touch}>
      <div className="ftool">
        <Button icon="reload" aria-label="Reload" onClick={reload} />
        <span className="url">
          <Icon name={runs ? "lock" : "file"} size="xs" />
          <bdi className="cut">{runs && artifact.port ? `preview · port ${artifact.port}` : artifact.path}</bdi>
          <span className="grow" />
          {runs && artifact.port ? <><Dot state="run" label="Live" />live</> : <span className="num">{bytes(artifact.sizeBytes)}</span>}
        </span>
        {(runs || hasSource(artifact.path)) && (
          <Segment label="How to show it" value={mode} onChange={setMode} choices={[{ value: "preview", label: "Preview" }, { value: "code", label: "Code" }]} />
        )}
        {runs && <Button icon="phone" aria-label="Phone size" aria-pressed={isPhone} title="Phone size" onClick={() => setPhone(!isPhone)} />}
        {artifact.kind !== "web_app" && <a className="btn ghost sq" href={source} download={artifact.name} aria-label="Download"><Icon name="dl" size="s" /></a>}
        <Button icon="expand" aria-label="Full screen" title="Full screen (F)" data-key-full="" onClick={() => toggleFull(frame.current)} />
      </div>
      {isStale && <p className="stale"><Icon name="alert" size="s" />The agent changed this.<button type="button" onClick={reload}>Reload</button></p>}
      <div className={`stage ${isPhone ? "phone" : ""}`}>
        {runs && mode === "preview" ? (
          <Preview key={round} sessionId={sessionId} artifact={artifact} />
        ) : artifact.kind === "web_app" ? (
          <AppCode sessionId={sessionId} folder={artifact.path} stamp={`${now} ${round}`} />
        ) : (
          <Viewer id={`artifact ${artifact.id}`} path={artifact.path} as={mode === "code" ? "text" : KINDS[artifact.kind]?.view} stamp={`${now} ${round}`} load={() => client.artifactContent(sessionId, artifact.id)} convert={() => client.convertFile(sessionId, artifact.path)} download={source} />
        )}
      </div>
    </div>
  );
}

/** Fills the screen with an element, or gives it back. A browser that refuses leaves things as they are. */
function toggleFull(element: HTMLElement | null) {
  const done = document.fullscreenElement ? document.exitFullscreen() : element?.requestFullscreen();
  done?.catch(() => {});
}
