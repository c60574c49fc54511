import { useEarlier, type SessionStore } from "@warren/react";
import { useImperativeHandle, useRef, useState, type KeyboardEvent, type MouseEvent, type ReactNode, type SyntheticEvent, type WheelEvent } from "react";
import { isField } from "~/lib/focus";
import { count } from "~/lib/format";
import { Icon } from "~/ui/Icon";
import { useChat } from "./context";
import { EarlierBar } from "./EarlierBar";
import { FindBar } from "./FindBar";
import { RowView } from "./RowView";
import type { PageRow, VersionFact } from "./marks";
import { isForgotten, type Span } from "./memory";
import { startOf } from "./rows";
import { useConversation } from "./useConversation";
import { useVirtual } from "./useVirtual";

type Props = { store: SessionStore; versions: readonly VersionFact[]; running: boolean; finding: boolean; onFound: () => void; children: ReactNode };

/** The conversation: rows on the trail, the end followed while the reader is there, the composer at the bottom. */
export function Conversation({ store, versions, running, finding, onFound, children }: Props) {
  const chat = useChat();
  const { rows, keys, forgotten } = useConversation(store, versions);
  const scroller = useRef<HTMLDivElement>(null);
  const { earlier, loadEarlier } = useEarlier(store.sessionId);
  const list = useVirtual(store.sessionId, keys, scroller, () => store.earlier().state === "more" && void loadEarlier());
  const [found, setFound] = useState<string | null>(null);
  useImperativeHandle(chat.end, () => list.toEnd, [list.toEnd]);
  // The last row that was seen at the end: those behind it are new, those that come before the first are not.
  const [left, setLeft] = useState(keys.at(-1));
  if (list.following && left !== keys.at(-1)) setLeft(keys.at(-1));
  const stay = () => scrollable(scroller.current) && list.detach();
  const onWheel = (event: WheelEvent) => event.deltaY < 0 && stay();
  const onClick = (event: MouseEvent) => (event.target as Element).closest("summary") && stay();
  const onSelect = (event: SyntheticEvent) => !isField(event.target as Element) && stay();
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === "PageUp" || (event.key === "ArrowUp" && event.target === scroller.current) || event.key === "Home") stay();
  };
  const show = (row: number) => {
    setFound(keys[row] ?? null);
    list.toRow(row);
  };
  const close = () => {
    setFound(null);
    onFound();
  };
  const news = list.following || left === undefined ? 0 : keys.length - 1 - Math.max(0, keys.lastIndexOf(left));
  return (
    <>
      {finding && <FindBar rows={rows} earlier={earlier} onLoadEarlier={loadEarlier} onShow={show} onClose={close} />}
      <div className={`scroll ${list.following ? "at-end" : ""}`} ref={scroller} tabIndex={0} aria-label="Conversation, scrolls" role="group" onScroll={list.onScroll} onWheel={onWheel} onKeyDown={onKeyDown}>
        <div className="col" role="log" aria-live="off" aria-label="Messages" onClick={onClick} onSelect={onSelect}>
          <EarlierBar earlier={earlier} onLoad={loadEarlier} scroller={scroller} />
          {rows.length === 0 && !running && earlier.state === "none" && <p className="empty-note">No messages yet. Describe the work below.</p>}
          <div className="vspace" style={{ height: list.before }} />
          {rows.slice(list.from, list.to).map((row, at) => (
            <div
              key={keys[list.from + at]}
              data-key={keys[list.from + at]}
              data-kind={row.kind}
              ref={list.measure}
              tabIndex={-1}
              className={`${rowClass(rows, list.from + at, running)} ${isPast(row, forgotten) ? "forgotten" : ""} ${found !== null && keys[list.from + at] === found ? "found-row" : ""}`}
            >
              <RowView row={row} live={running} last={list.from + at === rows.length - 1} />
            </div>
          ))}
          <div className="vspace" style={{ height: list.after }} />
        </div>
        <div className="dock">
          <div className="dock-in">
            {!list.following && (
              <button type="button" className="jump" onClick={list.toEnd}>
                <Icon name="arrdn" size="s" />
                {running ? "Follow live" : "Go to the end"} {news > 0 && <span className="num new">{count(news)} new</span>}
              </button>
            )}
            {children}
          </div>
        </div>
      </div>
    </>
  );
}

const scrollable = (box: HTMLElement | null): boolean => box !== null && box.scrollHeight > box.clientHeight + 1;

/** Whether the agent does not remember this row any more. Versions stay what they are. */
function isPast(row: PageRow, forgotten: readonly Span[]): boolean {
  if (forgotten.length === 0) return false;
  if (row.kind === "mark") return row.mark.mark !== "saved" && row.mark.mark !== "forgotten" && isForgotten(forgotten, row.mark.at);
  const at = startOf(row);
  return at !== null && isForgotten(forgotten, at);
}

/** The look of a row on the trail: saved versions interrupt it, the live end is the accent. */
function rowClass(rows: readonly PageRow[], at: number, running: boolean): string {
  const isSaved = (row: PageRow | undefined) => row?.kind === "mark" && row.mark.mark === "saved";
  if (isSaved(rows[at])) return "vrow is-saved";
  const parts = ["vrow turn"];
  if (at === 0) parts.push("begin");
  if (isSaved(rows[at - 1])) parts.push("first");
  if (at === rows.length - 1) parts.push("last");
  if (isSaved(rows[at + 1])) parts.push("to-saved");
  if (running && at === rows.length - 1) parts.push("live");
  if (running && at === rows.length - 2) parts.push("prelive");
  return parts.join(" ");
}
