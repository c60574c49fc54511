import type { EarlierStatus } from "@warren/react";
import { useMemo, useState, type KeyboardEvent } from "react";
import { count } from "~/lib/format";
import { toComposer } from "~/lib/focus";
import { Button } from "~/ui/Button";
import { matchingRows } from "./search";
import type { PageRow } from "./marks";
import { useFoundMarks } from "./useFoundMarks";

type Props = {
  rows: readonly PageRow[];
  /** Whether the conversation has messages that were not loaded, which cannot be searched. */
  earlier: EarlierStatus;
  onLoadEarlier: () => Promise<void>;
  onShow: (row: number) => void;
  onClose: () => void;
};

/** Finds text in the whole conversation, also in rows that are not in the document. */
export function FindBar({ rows, earlier, onLoadEarlier, onShow, onClose }: Props) {
  const [query, setQuery] = useState("");
  const [at, setAt] = useState(0);
  const found = useMemo(() => matchingRows(rows, query), [rows, query]);
  const current = Math.min(at, Math.max(0, found.length - 1));
  const go = (to: number) => {
    if (!found.length) return;
    const next = (to + found.length) % found.length;
    setAt(next);
    onShow(found[next]!);
  };
  const type = (text: string) => {
    setQuery(text);
    const first = matchingRows(rows, text);
    // The newest first: that is where the reader is.
    setAt(Math.max(0, first.length - 1));
    const last = first.at(-1);
    if (last !== undefined) onShow(last);
  };
  const close = () => {
    onClose();
    requestAnimationFrame(toComposer);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === "Escape") close();
    else if (event.key === "Enter") go(current + (event.shiftKey ? 1 : -1));
    else return;
    event.preventDefault();
  };
  useFoundMarks(query);
  const words = !query.trim() ? "" : found.length ? `${count(current + 1)} of ${count(found.length)}` : "No matches";
  return (
    <search className="findbar">
      <input id="find-in" className="inp-line grow" type="search" autoFocus aria-label="Find in conversation" placeholder="Find in conversation" value={query} onChange={(event) => type(event.target.value)} onKeyDown={onKeyDown} />
      <span className="num muted" role="status">{words}</span>
      <Button icon="up" aria-label="Earlier match" title="Earlier match (Enter)" disabled={!found.length} onClick={() => go(current - 1)} />
      <Button icon="arrdn" aria-label="Later match" title="Later match (Shift Enter)" disabled={!found.length} onClick={() => go(current + 1)} />
      {earlier.state !== "none" && <Button look="line" aria-disabled={earlier.state === "loading"} title="Only loaded messages are searched" onClick={() => void onLoadEarlier()}>{earlier.state === "loading" ? "Loading…" : "Search earlier messages"}</Button>}
      <Button icon="x" aria-label="Close find" onClick={close} />
    </search>
  );
}
