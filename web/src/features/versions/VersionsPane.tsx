import { useAgentSession, useSessionList, useVersions, type Version } from "@warren/react";
import { useMemo, useState } from "react";
import { plural } from "~/lib/format";
import { navigate, sessionPath, useRoute, versionPath } from "~/lib/router";
import { Button } from "~/ui/Button";
import { Dot } from "~/ui/Dot";
import { AgentMark } from "~/ui/AgentMark";
import { Icon } from "~/ui/Icon";
import { Behind, Empty, Skeleton, Unread } from "~/ui/Notice";
import { useUnsavedFiles } from "../files/unsaved";
import { Compare } from "./Compare";
import { SaveDialog } from "./SaveDialog";
import { TimeLine } from "./TimeLine";
import { titleOf } from "./title";
import { UnsavedCompare, UnsavedNode } from "./UnsavedNode";
import { VersionNode } from "./VersionNode";
import { ownCost } from "./ownCost";
import { useReplays } from "./useReplays";

/** Conversation and files together, as they were: a line of versions, and what differs between two. */
export function VersionsPane({ sessionId }: { sessionId: string }) {
  const all = useVersions(sessionId);
  const { activeRun, runs } = useAgentSession(sessionId);
  const unsaved = useUnsavedFiles(sessionId);
  const [isHead, setHead] = useState(false);
  const [saving, setSaving] = useState(false);
  const { sessions } = useSessionList();
  const replays = useReplays(sessionId);
  const route = useRoute();
  const chosen = route.at === "session" ? route.version : null;
  const forks = useMemo(() => sessions.filter((other) => other.forkedFrom?.sessionId === sessionId), [sessions, sessionId]);
  if (all.state === "loading") return <Skeleton rows={5} height={50} />;
  if (all.state === "failed" && all.versions.length === 0) {
    return <Unread title="The versions could not be read" error={all.error} onAgain={all.refresh}>They are kept on the server.</Unread>;
  }
  const selected = all.versions.find((version) => version.version === chosen) ?? all.versions[0] ?? null;
  // The list of versions is not read again when somebody edits a file; the list of unsaved files is.
  const isDirty = !activeRun && (all.head?.dirty === true || unsaved.files.size > 0);
  const latest = unsaved.version ?? all.head?.version ?? 0;
  const showsHead = isHead && isDirty;
  return (
    <>
      {all.state === "failed" && <Behind error={all.error} onAgain={all.refresh} />}
      <TimeLine>
        {activeRun && <Running next={(all.versions[0]?.version ?? 0) + 1} files={unsaved.files.size} />}
        {isDirty && <UnsavedNode sessionId={sessionId} version={latest} files={unsaved.files.size} isSelected={showsHead} onSelect={() => setHead(true)} onSave={() => setSaving(true)} />}
        {all.versions.map((version) => (
          <VersionNode
            key={version.version}
            sessionId={sessionId}
            version={version}
            costUSD={ownCost(version, all.versions) ?? 0}
            title={titleOf(version, runs)}
            isSelected={version === selected && !showsHead}
            isLatest={version === all.versions[0]}
            replay={replays.ofRun(version.runId)}
            actions={{ ...all, replay: replays.start }}
            onSelect={() => { setHead(false); navigate(versionPath(sessionId, version.version), "replace"); }}
          >
            {forks.filter((fork) => fork.forkedFrom?.version === version.version).map((fork) => (
              <a key={fork.sessionId} className="vn fork" href={sessionPath(fork.sessionId)} onClick={(event) => { event.preventDefault(); navigate(sessionPath(fork.sessionId)); }}>
                <span className="rg alt"><AgentMark type={fork.type} size="sm" /></span>
                <b className="cut"><bdi>{fork.name ?? "Unnamed session"}</bdi></b>
                <span className="mt">Forked from v{version.version} · now v{fork.version}</span>
                <span className="rt">{fork.activeRunId ? <Dot state="run" /> : <Icon name="right" size="s" />}</span>
              </a>
            ))}
          </VersionNode>
        ))}
      </TimeLine>
      {all.versions.length === 0 && <Empty icon="fork">The first version is saved when a run completes.</Empty>}
      {all.hasMore && <Button look="line" className="m-3" onClick={all.loadMore}>Show older versions</Button>}
      {showsHead && <UnsavedCompare sessionId={sessionId} version={latest} files={unsaved.files} />}
      {saving && <SaveDialog sessionId={sessionId} onClose={() => { setSaving(false); void all.refresh(); }} />}
      {selected && !showsHead && <Compare key={selected.version} sessionId={sessionId} versions={all.versions as Version[]} to={selected.version} from={before(selected)} />}
    </>
  );
}

const before = (version: Version): number => version.base ?? Math.max(0, version.version - 1);

function Running({ next, files }: { next: number; files: number }) {
  return (
    <div className="vn">
      <span className="rg live"><Dot state="run" label="Running" /></span>
      <b>Running, not saved yet</b>
      <span className="mt">Becomes v{next} when the run completes</span>
      {files > 0 && <span className="rt num">{plural(files, "file")}</span>}
    </div>
  );
}
