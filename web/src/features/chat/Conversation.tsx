import { useEarlier, type SessionStore } from "@warren/react";
import { useRef, type KeyboardEvent, type MouseEvent, type ReactNode, type WheelEvent } from "react";
import { count } from "~/lib/format";
import { Icon } from "~/ui/Icon";
import { useChat } from "./context";
import { EarlierBar } from "./EarlierBar";
import { RowView } from "./RowView";
import type { PageRow, VersionFact } from "./marks";
import { useConversation } from "./useConversation";
import { useVirtual } from "./useVirtual";

type Props = { store: SessionStore; versions: readonly VersionFact[]; running: boolean; children: ReactNode };

/** The conversation: rows on the trail, the end followed while the reader is there, the composer at the bottom. */
export function Conversation({ store, versions, running, children }: Props) {
  const chat = useChat();
  const { rows, keys } = useConversation(store, versions);
  const scroller = useRef<HTMLDivElement>(null);
  const { earlier, loadEarlier } = useEarlier(store.sessionId);
  const list = useVirtual(store.sessionId, keys, scroller, () => store.earlier().state === "more" && void loadEarlier());
  // The last row that was seen at the end: those behind it are new, those that come before the first are not.
  const left = useRef(keys.at(-1));
  if (list.following) left.current = keys.at(-1);
  const stay = list.detach;
  chat.end.current = list.toEnd;
  const onWheel = (event: WheelEvent) => event.deltaY < 0 && scrollable(scroller.current) && stay();
  const onClick = (event: MouseEvent) => (event.target as Element).closest("summary") && scrollable(scroller.current) && stay();
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === "PageUp" || (event.key === "ArrowUp" && event.target === scroller.current) || event.key === "Home") stay();
  };
  const news = list.following || left.current === undefined ? 0 : keys.length - 1 - Math.max(0, keys.lastIndexOf(left.current));
  return (
    <div className={`scroll ${list.following ? "at-end" : ""}`} ref={scroller} tabIndex={0} aria-label="Conversation, scrolls" role="group" onScroll={list.onScroll} onWheel={onWheel} onKeyDown={onKeyDown}>
      <div className="col" role="log" aria-live="off" aria-label="Messages" onClick={onClick} onSelect={stay}>
        <EarlierBar earlier={earlier} onLoad={loadEarlier} scroller={scroller} />
        {rows.length === 0 && !running && earlier.state === "none" && <p className="empty-note">Nothing was said yet. Describe the work below.</p>}
        <div className="vspace" style={{ height: list.before }} />
        {rows.slice(list.from, list.to).map((row, at) => (
          <div
            key={keys[list.from + at]}
            data-key={keys[list.from + at]}
            data-kind={row.kind}
            ref={list.measure}
            tabIndex={-1}
            className={rowClass(rows, list.from + at, running)}
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
  );
}

const scrollable = (box: HTMLElement | null): boolean => box !== null && box.scrollHeight > box.clientHeight + 1;

/** The look of a row on the trail: saved versions interrupt it, the live end is the accent. */
function rowClass(rows: readonly PageRow[], at: number, running: boolean): string {
  const isSaved = (row: PageRow | undefined) => row?.kind === "mark" && row.mark.mark === "saved";
  if (isSaved(rows[at])) return "vrow is-saved";
  const parts = ["vrow turn"];
  if (at === 0) parts.push("begin");
  if (isSaved(rows[at - 1])) parts.push("first");
  if (at === rows.length - 1 || isSaved(rows[at + 1])) parts.push("last");
  if (running && at === rows.length - 1) parts.push("live");
  if (running && at === rows.length - 2) parts.push("prelive");
  return parts.join(" ");
}
