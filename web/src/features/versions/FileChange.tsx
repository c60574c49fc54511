import type { FileDiff } from "@warren/react";
import { useMemo } from "react";
import { readUnified } from "~/lib/diff";
import { Empty, Skeleton, Unread } from "~/ui/Notice";
import { SplitDiff } from "~/ui/SplitDiff";
import { explain, modeChange } from "./explain";
import { UnifiedDiff } from "./UnifiedDiff";
import { useFileDiff, type Pair } from "./useDiff";

type Props = { pair: Pair; path: string; split: boolean; wrap: boolean };

/** One file that differs: read when it is shown. */
export function FileChange({ pair, path, split, wrap }: Props) {
  const read = useFileDiff(pair, path);
  const text = read.data?.diff;
  const diff = useMemo(() => (text ? readUnified(text) : null), [text]);
  const file = read.data;
  if (read.state === "failed" && !file) return <Unread title="This file could not be compared" error={read.error} onAgain={read.refresh} />;
  if (!file) return <Skeleton rows={6} height={20} />;
  if (!diff || diff.hunks.length === 0) return <WithoutLines file={file} pair={pair} />;
  const mode = modeChange(file);
  return (
    <div className={`cmp-diff ${wrap ? "wrap" : ""}`}>
      {mode && <p className="chg-note">Permissions changed: <span className="num">{mode}</span></p>}
      {split ? <SplitDiff path={path} diff={diff} /> : <UnifiedDiff pair={pair} path={path} diff={diff} isThere={file.change !== "removed"} />}
      {file.truncated && <p className="chg-note">The diff is cut here, because it is too long.</p>}
    </div>
  );
}

/** Where lines say nothing, a sentence does, and the file of either version can be had. */
function WithoutLines({ file, pair }: { file: FileDiff; pair: Pair }) {
  const { title, text } = explain(file);
  const link = (version: number) => `/api/sessions/${encodeURIComponent(pair.sessionId)}/versions/${version}/file?path=${encodeURIComponent(file.path)}`;
  const name = file.path.split("/").at(-1);
  const isFile = file.kind === "file";
  return (
    <div className="cmp-diff">
      <Empty icon="diff" action={isFile && (
        <span className="row">
          {file.before && <a className="btn line" href={link(pair.from)} download={name}>Download v{pair.from}</a>}
          {file.after && <a className="btn line" href={link(pair.to)} download={name}>Download v{pair.to}</a>}
        </span>
      )}>
        <b>{title}</b><br />{text}
      </Empty>
    </div>
  );
}
