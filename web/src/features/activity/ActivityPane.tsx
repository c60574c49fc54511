import { useEvents, type LogLine } from "@warren/react";
import { memo, useMemo, useState } from "react";
import { count } from "~/lib/format";
import { Button } from "~/ui/Button";
import { Icon } from "~/ui/Icon";
import { Behind, Empty, Skeleton, Unread } from "~/ui/Notice";
import { gathered, labelOf, toneOf, type Row } from "./describe";

/** At most this many rows are in the document; the rest is a filter or a click away. */
const SHOWN = 400;

/** The log itself, newest first. */
export function ActivityPane({ sessionId }: { sessionId: string }) {
  const { state, error, events, hasEarlier, loadEarlier, refresh } = useEvents(sessionId);
  const [words, setWords] = useState("");
  const [busy, setBusy] = useState(false);
  const [unread, setUnread] = useState<unknown>(null);
  const rows = useMemo(() => gathered(events), [events]);
  const found = useMemo(() => matching(rows, words), [rows, words]);
  if (state === "loading") return <Skeleton rows={12} height={24} />;
  if (state === "failed" && events.length === 0) {
    return <Unread title="The log could not be read" error={error} onAgain={refresh}>No data is lost.</Unread>;
  }
  const readEarlier = async () => {
    setBusy(true);
    setUnread(null);
    await loadEarlier().catch(setUnread);
    setBusy(false);
  };
  const last = events.at(-1);
  const first = events[0];
  return (
    <>
      <div className="ptool">
        <label className="find grow find-s">
          <Icon name="search" size="s" />
          <span className="vh">Filter events</span>
          <input placeholder={`Filter ${count(events.length)} events`} value={words} onChange={(event) => setWords(event.target.value)} />
        </label>
        {first && last && (
          <span className="chip num">
            <Icon name="check" size="xs" />
            {hasEarlier ? "read" : "log complete"}, {count(from(first))} to {count(to(last))}
          </span>
        )}
      </div>
      {state === "failed" && <Behind error={error} onAgain={refresh} />}
      {events.length === 0 && <Empty icon="list">No events yet. Every step of this session is listed here.</Empty>}
      {events.length > 0 && found.length === 0 && (
        <Empty icon="search" action={<Button look="line" onClick={() => setWords("")}>Clear the filter</Button>}>No event matches ‘{words}’.</Empty>
      )}
      <div className="evs" role="list" aria-label="Events, newest first">
        {found.slice(0, SHOWN).map((row) => <EventRow key={row.key} row={row} />)}
      </div>
      {found.length > SHOWN && <p className="muted m-3">{count(found.length - SHOWN)} older events match. Filter to find them.</p>}
      {hasEarlier && (
        <Button look="line" className="m-3" disabled={busy} onClick={() => void readEarlier()}>
          {busy ? "Loading…" : "Load 200 earlier events"}
        </Button>
      )}
      {unread !== null && <p className="dlg-bad m-3" role="alert">Not loaded: {said(unread)}</p>}
    </>
  );
}

const EventRow = memo(function EventRow({ row }: { row: Row }) {
  return (
    <div className={`ev ${toneOf(row.line)}`} role="listitem">
      <i className="num">{row.number}</i>
      <i className="num">{row.time}</i>
      <span className="cut" title={row.type}>{labelOf(row.type)}</span>
      <bdi className="cut sub">{row.text}</bdi>
    </div>
  );
});

function matching(rows: readonly Row[], words: string): readonly Row[] {
  const wanted = words.toLowerCase().split(/\s+/).filter(Boolean);
  const newest = [...rows].reverse();
  if (wanted.length === 0) return newest;
  return newest.filter((row) => wanted.every((word) => `${row.number} ${row.type} ${labelOf(row.type)} ${row.text}`.toLowerCase().includes(word)));
}

const from = (line: LogLine) => (line.type === "log_compacted" ? line.from : line.seq);
const to = (line: LogLine) => (line.type === "log_compacted" ? line.to : line.seq);
const said = (error: unknown) => (error instanceof Error ? error.message : String(error));

