import { useMemo, useRef } from "react";
import { useEarlier, useLive } from "@warren/react";
import { visible } from "~/lib/ansi";
import { Button } from "~/ui/Button";
import { useChat, useThreadBlocks } from "./context";
import { EarlierBar } from "./EarlierBar";
import type { MarkValue } from "./marks";
import { RowBuilder } from "./rows";
import { RowView } from "./RowView";
import { useVirtual } from "./useVirtual";

/** A subagent's whole thread beside the conversation that called it. */
export function Thread({ conversationId, onClose }: { conversationId: string; onClose: () => void }) {
  const { store } = useChat();
  const blocks = useThreadBlocks(conversationId);
  const info = useLive(store.sessionId, ["subagents"], (live) => live.state.subagents.get(conversationId));
  const builder = useMemo(() => new RowBuilder<MarkValue>(), [conversationId]);
  const rows = builder.build(blocks, NO_MARKS);
  const keys = useMemo(() => rows.map((row) => row.key), [rows]);
  const scroller = useRef<HTMLDivElement>(null);
  const { earlier, loadEarlier } = useEarlier(store.sessionId, conversationId);
  const list = useVirtual(`${store.sessionId}/${conversationId}`, keys, scroller, () => store.earlier(conversationId).state === "more" && void loadEarlier());
  const running = info?.status === "running" || info?.status === "pending";
  const name = visible(info?.name ?? "Subagent");
  return (
    <aside className="panel thread-side" aria-label={`Thread of ${name}`}>
      <div className="tabs">
        <h2 className="cut grow"><bdi>{name}</bdi></h2>
        <span className="muted">{running ? "at work" : info?.status === "error" ? "failed" : "done"}</span>
        <Button icon="x" aria-label="Close the thread" onClick={onClose} />
      </div>
      <div className="scroll" ref={scroller} tabIndex={0} role="group" aria-label={`Thread of ${name}, scrolls`} onScroll={list.onScroll}>
        <div className="col">
          <EarlierBar earlier={earlier} onLoad={loadEarlier} scroller={scroller} />
          {rows.length === 0 && earlier.state === "none" && <p className="empty-note">This thread is empty.</p>}
          <div className="vspace" style={{ height: list.before }} />
          {rows.slice(list.from, list.to).map((row, at) => (
            <div key={row.key} data-key={row.key} ref={list.measure} className={`vrow turn ${list.from + at === 0 ? "first" : ""} ${list.from + at === rows.length - 1 ? "last" : ""}`}>
              <RowView row={row} live={running} last={list.from + at === rows.length - 1} />
            </div>
          ))}
          <div className="vspace" style={{ height: list.after }} />
        </div>
      </div>
    </aside>
  );
}

const NO_MARKS: readonly never[] = [];
