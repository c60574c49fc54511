import { useSessionList } from "@warren/react";
import { useMemo } from "react";
import { count, when } from "~/lib/format";
import { sessionPath } from "~/lib/router";
import { AgentMark } from "~/ui/AgentMark";
import { Button } from "~/ui/Button";
import { Dot } from "~/ui/Dot";
import { Skeleton, Unread } from "~/ui/Notice";
import { follow } from "../sessions/SessionRow";
import { nameOf } from "../sessions/families";
import { useAsking } from "../sessions/useAsking";
import { usePage } from "../shell/page";
import { usePerson } from "../shell/person";
import { Burger } from "../shell/TopBar";
import { usePageTitle } from "../shell/usePageTitle";
import { columnsOf, type Card } from "./columns";

/** All sessions side by side: those that need somebody, those at work, those that are done. */
export function BoardPage() {
  const page = usePage();
  const person = usePerson();
  const list = useSessionList();
  const asking = useAsking(list.sessions);
  const columns = useMemo(() => columnsOf(list.sessions, asking), [list.sessions, asking]);
  usePageTitle("Board");
  return (
    <>
      <header className="top">
        <Burger />
        <h1>Board</h1>
        <span className="grow" />
        {person.mayRun && <Button look="line" icon="plus" onClick={() => page.startNew()}>New session</Button>}
      </header>
      <section className="page" aria-label="Board">
        {list.status.state === "failed" && list.sessions.length === 0 && <Unread title="The sessions could not be loaded" error={list.status.error} onAgain={list.refresh} />}
        {list.status.state === "loading" && <Skeleton rows={6} height={60} />}
        <div className="board">
          {columns.map((column) => (
            <section key={column.title} aria-label={column.title}>
              <h2>{column.title} <span className="num muted">{count(column.cards.length)}</span></h2>
              {column.cards.length === 0 && list.status.state === "ready" && <p className="muted none">{column.none}</p>}
              <ul>{column.cards.map((card) => <BoardCard key={card.session.sessionId} card={card} />)}</ul>
            </section>
          ))}
        </div>
        {list.hasMore && <Button className="more-ses" onClick={() => void list.loadMore()}>Show earlier sessions</Button>}
      </section>
    </>
  );
}

function BoardCard({ card: { session, state, line } }: { card: Card }) {
  return (
    <li>
      <a className="board-card" href={sessionPath(session.sessionId)} onClick={follow}>
        <span className="row">
          <AgentMark type={session.type} />
          <b className="cut grow"><bdi>{nameOf(session)}</bdi></b>
          <Dot state={state} />
        </span>
        <span className={`cut ${state === "wait" ? "ask" : state === "fail" ? "err" : "muted"}`} dir="auto">{line}</span>
        <time className="muted num" dateTime={new Date(session.lastActivity).toISOString()}>{when(session.lastActivity)}</time>
      </a>
    </li>
  );
}
