import { useResource, useWarrenClient, type FileDiff, type Version } from "@warren/react";
import { useState } from "react";
import { visible } from "~/lib/ansi";
import { Button } from "~/ui/Button";
import { Icon } from "~/ui/Icon";
import { Menu } from "~/ui/Menu";
import { Empty, Skeleton, Unread } from "~/ui/Notice";
import { Segment } from "~/ui/Segment";
import { tabKeys } from "~/ui/tabKeys";
import { BlockList } from "./BlockList";
import { FileChange } from "./FileChange";
import { useWide } from "./useWide";

type Props = { sessionId: string; versions: readonly Version[]; from: number; to: number };

const MARK = { added: "A", removed: "D", changed: "M" } as const;

/** What differs between two versions: files, or what was said. */
export function Compare({ sessionId, versions, from: first, to: last }: Props) {
  const client = useWarrenClient();
  const [from, setFrom] = useState(first);
  const [to, setTo] = useState(last);
  const [what, setWhat] = useState<"files" | "conversation">("files");
  const [path, setPath] = useState<string | null>(null);
  const [split, setSplit] = useState(true);
  const { ref, isWide } = useWide(860);
  const diff = useResource(`diff ${sessionId} ${from} ${to}`, () => client.diff(sessionId, to, from));
  const files = diff.data?.files ?? [];
  const file = files.find((one) => one.path === path) ?? files[0];
  return (
    <div className="cmp" ref={ref}>
      <div className="hd">
        <b>Compare</b>
        <VersionMenu label="From version" value={from} versions={versions} onChange={setFrom} />
        <span className="muted">to</span>
        <VersionMenu label="To version" value={to} versions={versions} onChange={setTo} />
        <span className="grow" />
        {isWide && what === "files" && <Button look="ghost" aria-pressed={split} onClick={() => setSplit(!split)}>{split ? "Unified" : "Side by side"}</Button>}
        <Segment label="What to compare" value={what} onChange={setWhat} choices={[{ value: "files", label: "Files" }, { value: "conversation", label: "Conversation" }]} />
      </div>
      {diff.state === "loading" && <Skeleton rows={6} height={22} />}
      {diff.state === "failed" && <Unread title="These versions cannot be compared" error={diff.error} onAgain={diff.refresh} />}
      {diff.data && what === "conversation" && <BlockList blocks={diff.data.blocks} />}
      {diff.data && what === "files" && files.length === 0 && <Empty icon="diff">No file differs between v{from} and v{to}.</Empty>}
      {diff.data && what === "files" && file && (
        <>
          <FileStrip files={files} chosen={file.path} onChoose={setPath} />
          <FileChange key={`${from} ${to} ${file.path}`} file={file} split={isWide && split} />
        </>
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

function FileStrip({ files, chosen, onChoose }: { files: readonly FileDiff[]; chosen: string; onChoose: (path: string) => void }) {
  return (
    <div className="fl" role="tablist" aria-label="Changed files" onKeyDown={tabKeys}>
      {files.map((file) => (
        <button key={file.path} type="button" role="tab" aria-selected={file.path === chosen} tabIndex={file.path === chosen ? 0 : -1} onClick={() => onChoose(file.path)}>
          <span className={`mk ${MARK[file.change]}`} role="img" aria-label={file.change}>{MARK[file.change]}</span>
          <bdi>{visible(file.path)}</bdi>
        </button>
      ))}
    </div>
  );
}
