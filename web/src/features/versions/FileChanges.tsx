import { useWarrenClient, type FileDiff } from "@warren/react";
import { useDeferredValue, useLayoutEffect, useMemo, useRef, useState, type KeyboardEvent } from "react";
import { count, plural } from "~/lib/format";
import { isField } from "~/lib/focus";
import { Button } from "~/ui/Button";
import { Icon } from "~/ui/Icon";
import { ChangeList, Lines } from "./ChangeList";
import { stepFrom, totalsOf, treeOf } from "./changes";
import { FileChange } from "./FileChange";
import { readAhead, useLineCounts, type Pair } from "./useDiff";
import { useKept } from "./useKept";

type Props = { pair: Pair; files: readonly FileDiff[]; isCut: boolean; isWide: boolean; split: boolean };

/** The files that differ, beside or above the one that is shown. */
export function FileChanges({ pair, files, isCut, isWide, split }: Props) {
  const client = useWarrenClient();
  const [path, setPath] = useState<string | null>(null);
  const [words, setWords] = useState("");
  const shown = useRef<HTMLElement>(null);
  const [wrap, setWrap] = useKept("warren.diff-wrap", false);
  const wanted = useDeferredValue(words);
  const tree = useMemo(() => treeOf(files, wanted), [files, wanted]);
  const { counts, isDone } = useLineCounts(pair, files.length > 0);
  const chosen = tree.order.find((file) => file.path === path) ?? tree.order[0] ?? null;
  const at = chosen ? tree.order.indexOf(chosen) : -1;
  const after = tree.order[at + 1]?.path;
  useLayoutEffect(() => readAhead(client, pair, after), [client, pair, after]);
  const go = (by: number) => setPath(stepFrom(tree.order, chosen?.path ?? null, by)?.path ?? null);
  const onKeyDown = (event: KeyboardEvent) => {
    const isLetter = !event.altKey && !event.ctrlKey && !event.metaKey && !isField(event.target as Element);
    const by = event.altKey ? { ArrowDown: 1, ArrowUp: -1 }[event.key] : isLetter ? { j: 1, k: -1 }[event.key] : undefined;
    if (by === undefined) return;
    event.preventDefault();
    // The lines that have the focus go away with their file.
    if (event.target instanceof Element && event.target.closest(".cmp-diff")) shown.current?.focus();
    go(by);
  };
  return (
    <div className={`chg ${isWide ? "wide" : ""}`} onKeyDown={onKeyDown}>
      <div className="chg-side">
        <label className="find find-s">
          <Icon name="search" size="s" />
          <span className="vh">Filter changed files</span>
          <input placeholder="Filter changed files" value={words} onChange={(event) => setWords(event.target.value)} />
        </label>
        {tree.order.length > 0 ? (
          <ChangeList tree={tree} counts={counts} chosen={chosen?.path ?? null} onChoose={setPath} />
        ) : (
          <p className="pane-note muted">No changed file has “{words}” in its path.</p>
        )}
        <Sum files={files} counts={counts} isDone={isDone} isCut={isCut} />
      </div>
      {chosen && (
        <section className="chg-file" ref={shown} tabIndex={-1} aria-label={chosen.path}>
          <div className="chg-bar">
            <Button className="tiny" icon="up" aria-label="Previous file" disabled={at <= 0} onClick={() => go(-1)} />
            <Button className="tiny" icon="arrdn" aria-label="Next file" disabled={at >= tree.order.length - 1} onClick={() => go(1)} />
            <bdi className="cut grow" title={chosen.path}>{chosen.path}</bdi>
            <span className="num muted chg-lines">{counts.get(chosen.path) && <Lines file={counts.get(chosen.path) ?? chosen} />}</span>
            <span className="num muted" aria-live="polite">{count(at + 1)} of {count(tree.order.length)}</span>
            <Button className="wrap-lines" aria-pressed={wrap} onClick={() => setWrap(!wrap)}>Wrap</Button>
          </div>
          <FileChange key={`${pair.from} ${pair.to} ${chosen.path}`} pair={pair} path={chosen.path} split={split} wrap={wrap} />
        </section>
      )}
    </div>
  );
}

function Sum({ files, counts, isDone, isCut }: { files: readonly FileDiff[]; counts: ReadonlyMap<string, FileDiff>; isDone: boolean; isCut: boolean }) {
  const totals = useMemo(() => totalsOf(counts.values()), [counts]);
  const isMissing = isDone && totals.known < files.length;
  return (
    <p className="chg-sum num" role="status">
      {isCut ? `The first ${plural(files.length, "file")}` : plural(files.length, "file")}
      <span className="plus" aria-label={`${plural(totals.added, "line")} added`} role="img">+{count(totals.added)}</span>
      <span className="minus" aria-label={`${plural(totals.removed, "line")} removed`} role="img">−{count(totals.removed)}</span>
      {!isDone && <span className="muted">counting…</span>}
      {isMissing && <span className="muted">not all counted</span>}
    </p>
  );
}
