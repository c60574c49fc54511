import { useAgentSession, useArtifacts, useVersions } from "@warren/react";
import { count } from "~/lib/format";
import type { Tab } from "~/lib/router";
import { Button } from "~/ui/Button";
import { Guard } from "~/ui/Guard";
import { Tabs } from "~/ui/Tabs";
import { ActivityPane } from "../activity/ActivityPane";
import { ArtifactsPane } from "../artifacts/ArtifactsPane";
import { FilesPane } from "../files/FilesPane";
import { useUnsavedFiles } from "../files/unsaved";
import { VersionsPane } from "../versions/VersionsPane";
import { usePanelWidth } from "./usePanelWidth";

export type PanelProps = { sessionId: string; tab: Tab; onTab: (tab: Tab) => void; onClose: () => void };

const PANES = { artifacts: ArtifactsPane, files: FilesPane, versions: VersionsPane, activity: ActivityPane };

/** What a session made, beside its conversation. */
export function Panel({ sessionId, tab, onTab, onClose }: PanelProps) {
  const { artifacts } = useArtifacts(sessionId);
  const { versions, hasMore } = useVersions(sessionId, { since: Infinity });
  const unsaved = useUnsavedFiles(sessionId).files.size;
  const { session } = useAgentSession(sessionId);
  const width = usePanelWidth();
  const Pane = PANES[tab];
  return (
    <aside className="panel" aria-label="Panel">
      <div className="panel-grip" role="separator" aria-label="Width of the panel" aria-orientation="vertical" aria-valuemin={360} aria-valuemax={900} aria-valuenow={width.px} tabIndex={0} {...width.grip} />
      <div className="panel-head">
        <Tabs
          label="Panel"
          value={tab}
          onChange={onTab}
          items={[
            { value: "artifacts", label: "Artifacts", note: artifacts.length || undefined },
            { value: "files", label: "Files", note: unsaved ? `${count(unsaved)} changed` : undefined },
            { value: "versions", label: "Versions", note: (hasMore ? 0 : versions.filter((version) => version.version > 0).length) || session?.version || undefined },
            { value: "activity", label: "Activity" },
          ]}
        />
        <Button icon="x" className="panel-close" aria-label="Close the panel" onClick={onClose} />
      </div>
      <div className="pane" role="tabpanel" id={`pane-${tab}`} aria-labelledby={`tab-${tab}`}>
        <Guard key={tab}><Pane sessionId={sessionId} /></Guard>
      </div>
    </aside>
  );
}
