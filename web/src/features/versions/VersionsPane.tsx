import { useAgentSession, useSessionList, useVersions, useWorkspaceFiles, type Version } from "@warren/react";
import { useMemo } from "react";
import { plural } from "~/lib/format";
import { navigate, sessionPath, useRoute, versionPath } from "~/lib/router";
import { Button } from "~/ui/Button";
import { Dot } from "~/ui/Dot";
import { AgentMark } from "~/ui/AgentMark";
import { Icon } from "~/ui/Icon";
import { Behind, Empty, Skeleton, Unread } from "~/ui/Notice";
import { Compare } from "./Compare";
import { TimeLine } from "./TimeLine";
import { titleOf } from "./title";
import { VersionNode } from "./VersionNode";
import { ownCost } from "./ownCost";
import { useReplays } from "./useReplays";

/** Conversation and files together, as they were: a line of versions, and what differs between two. */
export function VersionsPane({ sessionId }: { sessionId: string }) {
  const all = useVersions(sessionId);
  const { activeRun, runs } = useAgentSession(sessionId);
  const { changes } = useWorkspaceFiles(sessionId);
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
  const unsaved = changes.filter((change) => change.seq > (all.versions[0]?.seq ?? 0)).length;
  return (
    <>
      {all.state === "failed" && <Behind error={all.error} onAgain={all.refresh} />}
      <TimeLine>
        {activeRun && <Running next={(all.versions[0]?.version ?? 0) + 1} files={unsaved} />}
        {!activeRun && all.head?.dirty && <Dirty version={all.head.version} />}
        {all.versions.map((version) => (
          <VersionNode
            key={version.version}
            sessionId={sessionId}
            version={version}
            costUSD={ownCost(version, all.versions) ?? 0}
            title={titleOf(version, runs)}
            isSelected={version === selected}
            isLatest={version === all.versions[0]}
            replay={replays.ofRun(version.runId)}
            actions={{ ...all, replay: replays.start }}
            onSelect={() => navigate(versionPath(sessionId, version.version), "replace")}
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
      {all.versions.length === 0 && <Empty icon="fork">The first version is saved when this run ends well.</Empty>}
      {all.hasMore && <Button look="line" className="m-3" onClick={all.loadMore}>Show older versions</Button>}
      {selected && <Compare key={selected.version} sessionId={sessionId} versions={all.versions as Version[]} to={selected.version} from={before(selected)} />}
    </>
  );
}

const before = (version: Version): number => version.base ?? Math.max(0, version.version - 1);

function Running({ next, files }: { next: number; files: number }) {
  return (
    <div className="vn">
      <span className="rg live"><Dot state="run" label="Running" /></span>
      <b>Running, not saved yet</b>
      <span className="mt">Becomes v{next} when the run ends well</span>
      {files > 0 && <span className="rt num">{plural(files, "file")}</span>}
    </div>
  );
}

function Dirty({ version }: { version: number }) {
  return (
    <div className="vn">
      <span className="rg"><Dot state="wait" label="Not saved" /></span>
      <b>Not saved</b>
      <span className="mt">Files differ from v{version}. The next run saves them first.</span>
    </div>
  );
}
