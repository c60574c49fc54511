import { useResource, useSessionList, useWarrenClient, type SessionListItem } from "@warren/react";
import { useDeferredValue, useEffect, useMemo, useState } from "react";
import { cost } from "~/lib/format";
import { said } from "~/lib/problem";
import { navigate, useRoute } from "~/lib/router";
import { setTheme, useTheme } from "~/lib/theme";
import { AgentMark, agentName } from "~/ui/AgentMark";
import { Avatar } from "~/ui/Avatar";
import { Button } from "~/ui/Button";
import { Confirm } from "~/ui/Confirm";
import { Icon } from "~/ui/Icon";
import { Mark } from "~/ui/Mark";
import { Menu } from "~/ui/Menu";
import { Behind, Skeleton, Unread } from "~/ui/Notice";
import { toast } from "~/ui/toasts";
import { usePerson } from "../shell/person";
import { usePage } from "../shell/page";
import { dayOf, groupsOf, inOrder, nameOf, type Group } from "./families";
import { isArchived, isPinned, setMark } from "./marks";
import { follow, SessionRow } from "./SessionRow";
import { useAsking } from "./useAsking";

type Show = "all" | "run" | "wait" | "archived";

/** The sessions: search, filters, the list by what needs whom, and the way to all else. */
export function Sidebar() {
  const person = usePerson();
  const page = usePage();
  const route = useRoute();
  const [text, setText] = useState("");
  const [type, setType] = useState<string | null>(null);
  const [show, setShow] = useState<Show>("all");
  const q = useDeferredValue(text.trim());
  const list = useSessionList({ q: q || undefined, type: type ?? undefined });
  const asking = useAsking(list.sessions);
  const current = route.at === "session" ? route.sessionId : null;
  const groups = useMemo(() => {
    // Whoever searches looks for all of them; the one in view is always in the list.
    const listed = list.sessions.filter((one) => (show === "archived" ? isArchived(one) : q !== "" || !isArchived(one) || one.sessionId === current));
    return groupsOf(listed, asking, (at) => dayOf(at, Date.now()));
  }, [list.sessions, asking, show, q, current]);
  const shown = useMemo(() => (show === "run" || show === "wait" ? groups.filter((group) => group.title === (show === "run" ? "Running" : "Needs you")) : groups), [groups, show]);
  // An effect: the keys of the document step through this order.
  useEffect(() => void (page.order.current = inOrder(shown)), [page, shown]);
  const empty = list.status.state === "ready" && list.sessions.length === 0;
  return (
    <aside className="side" aria-label="Sessions">
      <div className="brand">
        <Mark />
        <b>Warren</b>
        <span className="host cut grow">{location.hostname}</span>
        <Button icon="cmd" aria-label="Command palette" title="Command palette (Ctrl K)" onClick={page.openPalette} />
        {person.mayRun && <Button icon="plus" aria-label="New session" title="New session (N)" onClick={() => page.startNew()} />}
      </div>
      <div className="side-top">
        <label className="find">
          <Icon name="search" size="s" />
          <span className="vh">Search sessions</span>
          <input id="find" type="search" placeholder="Search sessions" value={text} onChange={(event) => setText(event.target.value)} onKeyDown={(event) => event.key === "Escape" && (setText(""), event.currentTarget.blur())} />
          <kbd>/</kbd>
        </label>
        {!(empty && !q && !type) && <Filters groups={groups} show={show} onShow={setShow} type={type} onType={setType} sessions={list.sessions} />}
      </div>
      <nav className="sessions" aria-label="Session list">
        <List list={list} groups={shown} current={current} q={q} filtered={type !== null || show !== "all"} onClear={() => { setText(""); setType(null); setShow("all"); }} />
      </nav>
      <Foot />
    </aside>
  );
}

type ListProps = { list: ReturnType<typeof useSessionList>; groups: Group[]; current: string | null; q: string; filtered: boolean; onClear: () => void };

function List({ list, groups, current, q, filtered, onClear }: ListProps) {
  const person = usePerson();
  const client = useWarrenClient();
  const [leaving, setLeaving] = useState<SessionListItem | null>(null);
  const [unread, setUnread] = useState<unknown>(null);
  const failed = list.status.state === "failed" ? list.status : null;
  if (failed && list.sessions.length === 0) return <Unread title="The sessions could not be loaded" error={failed.error} onAgain={list.refresh}>Nothing is lost; agents keep working.</Unread>;
  if (list.status.state === "loading") return <Skeleton rows={5} height={48} />;
  if (groups.length === 0) {
    return (
      <div className="noses" role="status">
        {q || filtered ? (
          <>
            {q ? <>No session matches ‘{q}’. </> : <>No sessions here. </>}
            <button type="button" className="lnk" onClick={onClear}>Clear {q ? "search" : "filter"}</button>.
          </>
        ) : (
          "Sessions you start appear here, newest first. Each one keeps its whole conversation and every version of its files."
        )}
      </div>
    );
  }
  const marks = (session: SessionListItem) => [
    { label: isPinned(session) ? "Unpin" : "Pin", icon: "pin" as const, onChoose: () => change(session, "pinned", !isPinned(session)) },
    { label: isArchived(session) ? "Move out of the archive" : "Archive", icon: "archive" as const, onChoose: () => change(session, "archived", !isArchived(session)) },
    { label: "Delete…", icon: "x" as const, onChoose: () => setLeaving(session) },
  ];
  const change = (session: SessionListItem, mark: "pinned" | "archived", on: boolean) =>
    void setMark(client, session, mark, on).catch((error: unknown) => toast({ title: "The session was not changed", text: said(error), icon: "alert", warn: true }));
  const remove = async (session: SessionListItem) => {
    await list.remove(session.sessionId);
    if (session.sessionId === current) navigate("/");
  };
  const more = async () => {
    setUnread(null);
    await list.loadMore().catch(setUnread);
  };
  return (
    <>
      {failed && <Behind error={failed.error} onAgain={list.refresh} />}
      {groups.map((group) => (
        <section key={group.title} aria-label={group.title}>
          <div className="grp" aria-hidden="true">{group.title}</div>
          {group.members.map((member) => (
            <SessionRow
              key={member.session.sessionId}
              member={member}
              current={current}
              onRename={person.mayRun ? (session, name) => list.rename(session.sessionId, name) : null}
              onDelete={person.mayRun ? setLeaving : null}
              actions={person.mayRun ? marks : null}
            />
          ))}
        </section>
      ))}
      {list.hasMore && <Button className="more-ses" onClick={() => void more()}>Show earlier sessions</Button>}
      {unread !== null && <p className="dlg-bad m-3" role="alert">Earlier sessions could not be loaded: {said(unread)}</p>}
      {leaving && (
        <Confirm title={`Delete “${nameOf(leaving)}”?`} action="Delete" onClose={() => setLeaving(null)} onConfirm={() => remove(leaving)}>
          Its conversation, versions and files are deleted. This cannot be undone. Its forks are kept.
        </Confirm>
      )}
    </>
  );
}

type FilterProps = { groups: Group[]; show: Show; onShow: (show: Show) => void; type: string | null; onType: (type: string | null) => void; sessions: readonly SessionListItem[] };

function Filters({ groups, show, onShow, type, onType, sessions }: FilterProps) {
  // Agents that were seen: filtered by one, the list shows no other.
  const [known, setKnown] = useState<readonly string[]>([]);
  const fresh = sessions.map((session) => session.type).filter((name, at, all) => !known.includes(name) && all.indexOf(name) === at);
  if (fresh.length) setKnown([...known, ...fresh].sort());
  const n = (title: string) => groups.find((group) => group.title === title)?.members.length ?? 0;
  const chip = (value: Show, label: string, number?: number) => (
    <button type="button" className={`chip ${show === value ? "on" : ""}`} aria-pressed={show === value} onClick={() => onShow(value)}>
      {label} {number ? <span className="num">{number}</span> : null}
    </button>
  );
  return (
    <div className="filters" role="group" aria-label="Filter sessions">
      {chip("all", "All")}
      {chip("run", "Running", n("Running"))}
      {chip("wait", "Needs you", n("Needs you"))}
      <span className="grow" />
      <Menu
        label="More filters"
        className={`btn ghost sq tiny ${type || show === "archived" ? "chosen" : ""}`}
        align="end"
        items={[
          { label: "Archived sessions", icon: "archive", checked: show === "archived", onChoose: () => onShow(show === "archived" ? "all" : "archived") },
          { label: "All agents", checked: type === null, onChoose: () => onType(null) },
          ...known.map((name) => ({ label: agentName(name), checked: type === name, onChoose: () => onType(name) })),
        ]}
      >
        {type ? <AgentMark type={type} size="sm" /> : <Icon name="filter" size="s" />}
      </Menu>
    </div>
  );
}

/** What was spent since midnight; counted anew when a run begins or ends. */
function Today() {
  const client = useWarrenClient();
  const { sessions } = useSessionList();
  const running = sessions.map((session) => session.activeRunId ?? "").join(" ");
  const midnight = new Date(new Date().setHours(0, 0, 0, 0)).toISOString();
  const spent = useResource(`spent since ${midnight}`, () => client.usage({ from: midnight }), running);
  const usd = spent.data?.total.costUSD ?? 0;
  return usd > 0 ? <span className="rt num">{cost(usd)} today</span> : null;
}

function Foot() {
  const person = usePerson();
  const client = useWarrenClient();
  const route = useRoute();
  const theme = useTheme();
  const other = theme === "dark" ? "light" : "dark";
  const signOut = () => client.signOut().then(() => location.assign("/"), () => location.assign("/"));
  return (
    <div className="side-foot">
      <a className="nav ov" href="/board" aria-current={route.at === "board" ? "page" : undefined} onClick={follow}>
        <Icon name="list" />
        Board
      </a>
      <a className="nav ov" href="/overview" aria-current={route.at === "overview" ? "page" : undefined} onClick={follow}>
        <Icon name="chart" />
        Overview
        <Today />
      </a>
      <div className="row foot-row">
        <Menu label={`Signed in as ${person.name}${person.mayRun ? "" : " read-only"}`} className="nav grow" items={[{ label: "Sign out", icon: "key", onChoose: () => void signOut() }]}>
          <Avatar />
          <span className="cut">{person.name}</span>
          {!person.mayRun && <> <span className="chip">read-only</span></>}
        </Menu>
        <a className="btn ghost sq" href="/settings" aria-label="Settings" title="Settings" aria-current={route.at === "settings" ? "page" : undefined} onClick={follow}>
          <Icon name="gear" />
        </a>
        <Button icon={theme === "dark" ? "sun" : "moon"} aria-label={`Switch to ${other}`} title={`Switch to ${other}`} onClick={() => setTheme(other)} />
      </div>
    </div>
  );
}
