import { useResource, useSessionList, useWarrenClient, type SessionListItem } from "@warren/react";
import { useDeferredValue, useMemo, useRef, useState } from "react";
import { cost } from "~/lib/format";
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
import { usePerson } from "../shell/person";
import { usePage } from "../shell/page";
import { dayOf, groupsOf, inOrder, nameOf, type Group } from "./families";
import { follow, SessionRow } from "./SessionRow";
import { useAsking } from "./useAsking";

type Show = "all" | "run" | "wait";

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
  const groups = useMemo(() => groupsOf(list.sessions, asking, (at) => dayOf(at, Date.now())), [list.sessions, asking]);
  const shown = useMemo(() => (show === "all" ? groups : groups.filter((group) => group.title === (show === "run" ? "Running" : "Needs you"))), [groups, show]);
  page.order.current = inOrder(shown);
  const current = route.at === "session" ? route.sessionId : null;
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
  const [leaving, setLeaving] = useState<SessionListItem | null>(null);
  const [unread, setUnread] = useState<unknown>(null);
  const failed = list.status.state === "failed" ? list.status : null;
  if (failed && list.sessions.length === 0) return <Unread title="The list cannot be read" error={failed.error} onAgain={list.refresh}>Nothing is lost; sessions go on working.</Unread>;
  if (list.status.state === "loading") return <Skeleton rows={5} height={48} />;
  if (groups.length === 0) {
    return (
      <div className="noses" role="status">
        {q || filtered ? (
          <>
            {q ? <>No session matches ‘{q}’. </> : <>No session is in this state. </>}
            <button type="button" className="lnk" onClick={onClear}>Clear {q ? "search" : "filter"}</button>.
          </>
        ) : (
          "Sessions you start appear here, newest first. Each one keeps its whole conversation and every version of its files."
        )}
      </div>
    );
  }
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
            />
          ))}
        </section>
      ))}
      {list.hasMore && <Button className="more-ses" onClick={() => void more()}>Show earlier sessions</Button>}
      {unread !== null && <p className="dlg-bad m-3" role="alert">They were not read: {unread instanceof Error ? unread.message : null}</p>}
      {leaving && (
        <Confirm title={`Delete “${nameOf(leaving)}”?`} action="Delete" onClose={() => setLeaving(null)} onConfirm={() => remove(leaving)}>
          Its conversation, its versions and its files are removed for good. Forks of it stay.
        </Confirm>
      )}
    </>
  );
}

type FilterProps = { groups: Group[]; show: Show; onShow: (show: Show) => void; type: string | null; onType: (type: string | null) => void; sessions: readonly SessionListItem[] };

function Filters({ groups, show, onShow, type, onType, sessions }: FilterProps) {
  const known = useRef(new Set<string>());
  for (const session of sessions) known.current.add(session.type);
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
        label="Filter by agent"
        className={`btn ghost sq tiny ${type ? "chosen" : ""}`}
        align="end"
        items={[
          { label: "All agents", checked: type === null, onChoose: () => onType(null) },
          ...[...known.current].sort().map((name) => ({ label: agentName(name), checked: type === name, onChoose: () => onType(name) })),
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
      <a className="nav ov" href="/overview" aria-current={route.at === "overview" ? "page" : undefined} onClick={follow}>
        <Icon name="chart" />
        Overview
        <Today />
      </a>
      <div className="row foot-row">
        <Menu label={`Signed in as ${person.name}${person.mayRun ? "" : " reads only"}`} className="nav grow" items={[{ label: "Sign out", icon: "key", onChoose: () => void signOut() }]}>
          <Avatar />
          <span className="cut">{person.name}</span>
          {!person.mayRun && <> <span className="chip">reads only</span></>}
        </Menu>
        <a className="btn ghost sq" href="/settings" aria-label="Settings" title="Settings" aria-current={route.at === "settings" ? "page" : undefined} onClick={follow}>
          <Icon name="gear" />
        </a>
        <Button icon="moon" aria-label={`Switch to ${other}`} title={`Switch to ${other}`} onClick={() => setTheme(other)} />
      </div>
    </div>
  );
}
