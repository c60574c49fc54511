import type { Version } from "@warren/react";
import { useMemo, useState } from "react";
import { toggleFull } from "~/lib/fullscreen";
import { Button } from "~/ui/Button";
import { Icon } from "~/ui/Icon";
import { Menu } from "~/ui/Menu";
import { Empty, Skeleton, Unread } from "~/ui/Notice";
import { Segment } from "~/ui/Segment";
import { BlockList } from "./BlockList";
import { FileChanges } from "./FileChanges";
import { useChangedFiles } from "./useDiff";
import { useKept } from "./useKept";
import { useWide } from "./useWide";

type Props = { sessionId: string; versions: readonly Version[]; from: number; to: number };

/** What differs between two versions: files, or what was said. */
export function Compare({ sessionId, versions, from: first, to: last }: Props) {
  const [from, setFrom] = useState(first);
  const [to, setTo] = useState(last);
  const [what, setWhat] = useState<"files" | "conversation">("files");
  const [split, setSplit] = useKept("warren.diff-split", true);
  const { ref, isWide } = useWide(860);
  const pair = useMemo(() => ({ sessionId, from, to }), [sessionId, from, to]);
  const diff = useChangedFiles(pair);
  const files = diff.data?.files ?? [];
  return (
    <div className="cmp" ref={ref}>
      <div className="hd">
        <b>Compare</b>
        <VersionMenu label="From version" value={from} versions={versions} onChange={setFrom} />
        <span className="muted">to</span>
        <VersionMenu label="To version" value={to} versions={versions} onChange={setTo} />
        <span className="grow" />
        {isWide && what === "files" && <Button look="ghost" aria-pressed={split} onClick={() => setSplit(!split)}>Side by side</Button>}
        <Segment label="What to compare" value={what} onChange={setWhat} choices={[{ value: "files", label: "Files" }, { value: "conversation", label: "Conversation" }]} />
        <Button icon="expand" aria-label="Full screen" onClick={() => toggleFull(ref.current)} />
      </div>
      {diff.state === "loading" && <Skeleton rows={6} height={22} />}
      {diff.state === "failed" && <Unread title="These versions cannot be compared" error={diff.error} onAgain={diff.refresh} />}
      {diff.data && what === "conversation" && <BlockList blocks={diff.data.blocks} />}
      {diff.data && what === "files" && files.length === 0 && <Empty icon="diff">No file differs between v{from} and v{to}.</Empty>}
      {diff.data && what === "files" && files.length > 0 && (
        <FileChanges key={`${from} ${to}`} pair={pair} files={files} isCut={diff.data.truncated ?? false} isWide={isWide} split={isWide && split} />
      )}
    </div>
  );
}

function VersionMenu({ label, value, versions, onChange }: { label: string; value: number; versions: readonly Version[]; onChange: (version: number) => void }) {
  const numbers = [...new Set([...versions.map((version) => version.version), 0])];
  return (
    <Menu label={`${label}: v${value}`} className="btn line vmenu num" items={numbers.map((n) => ({ label: `v${n}`, checked: n === value, onChoose: () => onChange(n) }))}>
      v{value} <Icon name="down" size="xs" />
    </Menu>
  );
}
