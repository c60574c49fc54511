import type { Run, SessionListItem } from "@warren/react";
import { useState } from "react";
import { useNow } from "~/lib/clockwork";
import { clock, cost } from "~/lib/format";
import { Button } from "~/ui/Button";
import { Dot, type State } from "~/ui/Dot";
import { Icon } from "~/ui/Icon";
import { Menu, type MenuItem } from "~/ui/Menu";
import { Meter } from "~/ui/Meter";
import { asksFirst, nameOf } from "../sessions/families";
import { IsolationBadge } from "./IsolationBadge";
import { usePage } from "./page";

type Props = {
  session: SessionListItem;
  state: State;
  activeRun: Run | null;
  /** The server does not answer, so what is shown may be old. */
  isOffline: boolean;
  isolation: unknown;
  costUSD: number;
  budgetUSD: number | null;
  menu: readonly MenuItem[];
  renaming: boolean;
  panelOpen: boolean;
  onRename: ((name: string) => Promise<unknown>) | null;
  onRenaming: (renaming: boolean) => void;
  onPanel: () => void;
};

/** The session in view: its name, state, isolation and cost. */
export function TopBar(props: Props) {
  const { session, state, activeRun, isOffline, isolation, costUSD, budgetUSD, menu, renaming, onRename, onRenaming, onPanel, panelOpen } = props;
  return (
    <header className="top">
      <Burger />
      {renaming && onRename ? <RenameField name={nameOf(session)} onRename={onRename} onDone={() => onRenaming(false)} /> : <h1 className="cut" onDoubleClick={() => onRename && onRenaming(true)}><bdi>{nameOf(session)}</bdi></h1>}
      <Menu label="Session menu" className="btn ghost sq ses-menu" items={menu}>
        <Icon name="down" size="s" />
      </Menu>
      <Doing state={state} run={activeRun} isOffline={isOffline} />
      <span className="grow" />
      <span className="muted mode hide-s" title="Permissions of this session">{asksFirst(session) ? "Ask before acting" : "Auto-approve"}</span>
      <IsolationBadge isolation={isolation} />
      {(costUSD > 0 || budgetUSD !== null) && (
        <span className="cost num" title="Cost of this session">
          <b>{cost(costUSD)}</b>
          {budgetUSD !== null && <span className="of muted">of {cost(budgetUSD)}</span>}
          {budgetUSD !== null && <Meter part={costUSD / budgetUSD} label="Budget used" />}
        </span>
      )}
      <Button icon="panel" className="hide-s" aria-label={panelOpen ? "Hide panel" : "Show panel"} aria-pressed={panelOpen} title="Panel (Ctrl .)" onClick={onPanel} />
    </header>
  );
}

/** Opens the sessions on narrow screens. */
export function Burger() {
  const page = usePage();
  return <Button icon="menu" className="burger" aria-label="Sessions" onClick={page.toggleDrawer} />;
}

const WORDS: Record<State, string> = { run: "Running", boot: "Starting", wait: "Needs you", idle: "Idle", fail: "Failed" };

function Doing({ state, run, isOffline }: { state: State; run: Run | null; isOffline: boolean }) {
  const now = useNow(run !== null && !isOffline);
  const since = run?.startedAt ? ` ${clock(now - Date.parse(run.startedAt))}` : "";
  if (isOffline) {
    return (
      <div className="state idle">
        <Dot state="idle" label="Unknown: no connection" />
        <span className="tx">Offline</span>
      </div>
    );
  }
  return (
    <div className={`state ${state}`}>
      <Dot state={state} />
      <span className="tx num">{state === "idle" || state === "fail" ? WORDS[state] : `${WORDS[state]}${since}`}</span>
    </div>
  );
}

function RenameField({ name, onRename, onDone }: { name: string; onRename: (name: string) => Promise<unknown>; onDone: () => void }) {
  const [text, setText] = useState(name);
  const [problem, setProblem] = useState<string | null>(null);
  const save = () => {
    if (!text.trim() || text.trim() === name) return onDone();
    onRename(text.trim()).then(onDone, (error: unknown) => setProblem(error instanceof Error ? error.message : String(error)));
  };
  return (
    <form className="rename" onSubmit={(event) => { event.preventDefault(); save(); }}>
      <input className="inp-line" autoFocus aria-label="Session name" maxLength={200} value={text} onFocus={(event) => event.target.select()} onChange={(event) => setText(event.target.value)} onBlur={save} onKeyDown={(event) => event.key === "Escape" && onDone()} />
      {problem && <span className="dlg-bad" role="alert">{problem}</span>}
    </form>
  );
}
