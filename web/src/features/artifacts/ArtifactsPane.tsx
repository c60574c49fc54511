import { useArtifacts } from "@warren/react";
import { useMemo } from "react";
import { visible } from "~/lib/ansi";
import { artifactPath, navigate, useRoute } from "~/lib/router";
import { Icon } from "~/ui/Icon";
import { Behind, Empty, Skeleton, Unread } from "~/ui/Notice";
import { tabKeys } from "~/ui/tabKeys";
import { KINDS } from "../viewers/kinds";
import { ArtifactFrame } from "./ArtifactFrame";
import { inOrder } from "./order";
import { VersionStrip } from "./VersionStrip";

/** What the agent made worth showing: a shelf, and one of them in a frame. */
export function ArtifactsPane({ sessionId }: { sessionId: string }) {
  const { state, error, artifacts: all, refresh } = useArtifacts(sessionId);
  const artifacts = useMemo(() => inOrder(all), [all]);
  const route = useRoute();
  const chosen = route.at === "session" ? route.artifact : null;
  if (state === "loading" && artifacts.length === 0) return <Skeleton rows={3} height={56} />;
  if (state === "failed" && artifacts.length === 0) {
    return <Unread title="The artifacts could not be read" error={error} onAgain={refresh}>They are kept on the server.</Unread>;
  }
  const artifact = artifacts.find((one) => one.id === chosen) ?? artifacts[0];
  if (!artifact) return <Empty icon="app">Nothing to show yet. Files the agent puts in <code>outputs/</code> appear here.</Empty>;
  return (
    <>
      {state === "failed" && <Behind error={error} onAgain={refresh} />}
      <div className="shelf" role="tablist" aria-label="Artifacts of this session" onKeyDown={tabKeys}>
        {artifacts.map((one) => {
          const { icon, name } = KINDS[one.kind] ?? KINDS.code;
          return (
            <button key={one.id} type="button" role="tab" aria-selected={one === artifact} tabIndex={one === artifact ? 0 : -1} onClick={() => navigate(artifactPath(sessionId, one.id), "replace")}>
              <span className="k"><Icon name={icon} size="s" />{name}</span>
              <b className="cut"><bdi>{visible(one.name)}</bdi></b>
            </button>
          );
        })}
      </div>
      <ArtifactFrame key={artifact.id} sessionId={sessionId} artifact={artifact} />
      <VersionStrip sessionId={sessionId} artifact={artifact} />
    </>
  );
}
