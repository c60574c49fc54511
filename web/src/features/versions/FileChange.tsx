import type { FileDiff, FileSide } from "@warren/react";
import { useMemo } from "react";
import { readUnified } from "~/lib/diff";
import { bytes } from "~/lib/format";
import { DiffView } from "~/ui/DiffView";
import { SplitDiff } from "~/ui/SplitDiff";

/** One file that differs. */
export function FileChange({ file, split }: { file: FileDiff; split: boolean }) {
  const diff = useMemo(() => (file.diff ? readUnified(file.diff) : null), [file.diff]);
  if (!diff || diff.hunks.length === 0) return <Sizes file={file} />;
  return (
    <div className="cmp-diff">
      {split ? <SplitDiff path={file.path} diff={diff} /> : <DiffView path={file.path} diff={diff} />}
      {file.truncated && <p className="muted m-3">The file is too long for its whole diff; this is the beginning.</p>}
    </div>
  );
}

/** Where lines say nothing, sizes and hashes do. */
function Sizes({ file }: { file: FileDiff }) {
  return (
    <dl className="sizes num">
      <dt>Before</dt>
      <dd>{side(file.before)}</dd>
      <dt>After</dt>
      <dd>{side(file.after)}</dd>
      <dt>Why no lines</dt>
      <dd>{file.binary ? "It is not text." : file.kind !== "file" ? `It is a ${file.kind}.` : file.truncated ? "It is too long to compare." : "Only its mode differs, or it is empty."}</dd>
    </dl>
  );
}

const side = (at: FileSide | undefined | null): string => {
  if (!at) return "not there";
  const mode = at.mode === undefined ? "" : ` · mode ${at.mode.toString(8)}`;
  return `${bytes(at.sizeBytes)}${mode}${at.hash ? ` · ${at.hash.slice(0, 12)}` : ""}`;
};
