import { useId, useLayoutEffect, useMemo, useState, type KeyboardEvent } from "react";
import type { FileDiff } from "@warren/react";
import { visible } from "~/lib/ansi";
import { count, plural } from "~/lib/format";
import { Icon } from "~/ui/Icon";
import { useWindow } from "~/ui/useWindow";
import { foldersAbove, rowsOf, type ChangeTree, type Row } from "./changes";

const MARK = { added: "A", removed: "D", changed: "M" } as const;
const ROW = 26;

type Props = {
  tree: ChangeTree;
  counts: ReadonlyMap<string, FileDiff>;
  chosen: string | null;
  onChoose: (path: string) => void;
};

/** The files that differ, as a tree of which only the rows in view are drawn. The focus stays on the tree; keys move in it. */
export function ChangeList({ tree, counts, chosen, onChoose }: Props) {
  const [closed, setClosed] = useState<ReadonlySet<string>>(new Set());
  const [active, setActive] = useState<string | null>(null);
  const rows = useMemo(() => rowsOf(tree, closed), [tree, closed]);
  const { ref, onScroll, from, to, reveal } = useWindow(rows.length, ROW);
  const id = useId();
  const place = active ?? chosen;
  const at = rows.findIndex((row) => row.path === place);
  const toggle = (path: string, isOpen: boolean) =>
    setClosed((old) => {
      const next = new Set(old);
      if (isOpen) next.delete(path);
      else next.add(path);
      return next;
    });
  useLayoutEffect(() => {
    // The file that was chosen elsewhere, by next and previous, is shown here too.
    setActive(chosen);
    if (chosen === null) return;
    const above = foldersAbove(chosen);
    setClosed((old) => (above.some((folder) => old.has(folder)) ? new Set([...old].filter((folder) => !above.includes(folder))) : old));
  }, [chosen]);
  useLayoutEffect(() => reveal(at), [at, reveal]);

  const go = (row: Row | undefined) => {
    if (!row) return;
    setActive(row.path);
    if (row.kind === "file") onChoose(row.path);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    const row = rows[at];
    const page = Math.max(1, Math.floor((ref.current?.clientHeight ?? ROW) / ROW) - 1);
    const parent = () => rows.slice(0, Math.max(0, at)).findLast((other) => row && other.depth < row.depth);
    switch (event.key) {
      case "ArrowDown": go(rows[at + 1]); break;
      case "ArrowUp": go(rows[Math.max(0, at - 1)]); break;
      case "PageDown": go(rows[Math.min(rows.length - 1, at + page)]); break;
      case "PageUp": go(rows[Math.max(0, at - page)]); break;
      case "Home": go(rows[0]); break;
      case "End": go(rows.at(-1)); break;
      case "ArrowRight":
        if (row?.kind === "folder" && !row.isOpen) toggle(row.path, true);
        else go(rows[at + 1]);
        break;
      case "ArrowLeft":
        if (row?.kind === "folder" && row.isOpen) toggle(row.path, false);
        else go(parent());
        break;
      case "Enter":
      case " ":
        if (row?.kind === "folder") toggle(row.path, !row.isOpen);
        else go(row);
        break;
      default: return;
    }
    event.preventDefault();
  };
  return (
    <div ref={ref} className="chg-tree" role="tree" aria-label="Changed files" tabIndex={0} aria-activedescendant={at >= from && at < to ? `${id}-${at}` : undefined} onScroll={onScroll} onKeyDown={onKeyDown}>
      <div role="none" className="chg-all" style={{ height: rows.length * ROW }}>
        {rows.slice(from, to).map((row, n) => (
          <ChangeRow
            key={row.path}
            id={`${id}-${from + n}`}
            row={row}
            top={(from + n) * ROW}
            counted={counts.get(row.path)}
            isChosen={row.path === chosen}
            isActive={from + n === at}
            onPress={() => {
              setActive(row.path);
              if (row.kind === "folder") toggle(row.path, !row.isOpen);
              else onChoose(row.path);
            }}
          />
        ))}
      </div>
    </div>
  );
}

type RowProps = { id: string; row: Row; top: number; counted: FileDiff | undefined; isChosen: boolean; isActive: boolean; onPress: () => void };

function ChangeRow({ id, row, top, counted, isChosen, isActive, onPress }: RowProps) {
  const look = `fr chg-row ${isChosen ? "sel" : ""} ${isActive ? "act" : ""}`;
  const style = { top, paddingLeft: 8 + row.depth * 16 };
  if (row.kind === "folder") {
    return (
      <div id={id} className={look} role="treeitem" aria-level={row.depth + 1} aria-expanded={row.isOpen} aria-selected={false} style={style} onClick={onPress}>
        <Icon name={row.isOpen ? "down" : "right"} size="xs" />
        <bdi className="cut">{visible(row.name)}</bdi>
        <span className="st num"><span className="vh">, </span>{plural(row.files, "file")}</span>
      </div>
    );
  }
  return (
    <div id={id} className={look} role="treeitem" aria-level={row.depth + 1} aria-selected={isChosen} style={style} title={row.path} onClick={onPress}>
      <span className={`mk ${MARK[row.file.change]}`} role="img" aria-label={row.file.change}>{MARK[row.file.change]}</span>
      <bdi className={`cut ${row.file.change === "removed" ? "gone" : ""}`}>{visible(row.name)}</bdi>
      <span className="st num">{counted && <Lines file={counted} />}</span>
    </div>
  );
}

/** `+3 −1`, in words for who does not see colours. */
export function Lines({ file }: { file: Pick<FileDiff, "added" | "removed" | "binary" | "truncated"> }) {
  if (file.binary) return <>binary</>;
  if (file.added === undefined || file.removed === undefined) return file.truncated ? <>large</> : null;
  return (
    <span role="img" aria-label={`${plural(file.added, "line")} added, ${plural(file.removed, "line")} removed`}>
      {file.added > 0 && <span className="plus">+{count(file.added)}</span>} {file.removed > 0 && <span className="minus">−{count(file.removed)}</span>}
      {file.added === 0 && file.removed === 0 && "0"}
    </span>
  );
}
