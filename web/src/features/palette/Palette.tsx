import { useSessionList } from "@warren/react";
import { useId, useMemo, useState, type KeyboardEvent } from "react";
import { awaitComposer } from "~/lib/focus";
import { navigate, sessionPath } from "~/lib/router";
import { setTheme, theme } from "~/lib/theme";
import { AgentMark } from "~/ui/AgentMark";
import { Dialog } from "~/ui/Dialog";
import { Icon } from "~/ui/Icon";
import { nameOf } from "../sessions/families";
import { usePage, type Page } from "../shell/page";
import { usePerson } from "../shell/person";
import { marked, matching, type Command } from "./commands";

/** Everything by its name. */
export function Palette({ onClose }: { onClose: () => void }) {
  const page = usePage();
  const person = usePerson();
  const { sessions } = useSessionList();
  const [query, setQuery] = useState("");
  const [at, setAt] = useState(0);
  const id = useId();
  const all = useMemo(
    () => [
      ...ofSession(page, person.mayRun),
      ...ofPage(page, person.mayRun),
      ...sessions.map((session): Command => ({
        id: session.sessionId, group: "Sessions", label: nameOf(session), agent: session.type,
        note: session.forkedFrom ? `fork of v${session.forkedFrom.version}` : session.activeRunId ? "running" : undefined,
        run: () => {
          navigate(sessionPath(session.sessionId));
          awaitComposer(session.sessionId);
        },
      })),
    ],
    [page, person, sessions],
  );
  const found = matching(all, query);
  const chosen = found[Math.min(at, found.length - 1)];
  const choose = (command: Command | undefined) => {
    if (!command) return;
    onClose();
    command.run();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: found.length - 1 }[event.key];
    if (event.key === "Enter") choose(chosen);
    else if (to !== undefined && found.length) setAt((to + found.length) % found.length);
    else return;
    event.preventDefault();
  };
  return (
    <Dialog label="Command palette" className="pal" onClose={onClose}>
      <div className="q">
        <Icon name="search" />
        <input role="combobox" aria-expanded="true" aria-controls={id} aria-activedescendant={chosen && `${id}-${chosen.id}`} aria-label="Search commands and sessions" placeholder="Search commands and sessions" autoFocus value={query} onChange={(event) => { setQuery(event.target.value); setAt(0); }} onKeyDown={onKeyDown} />
        <kbd>Esc</kbd>
      </div>
      <div role="listbox" id={id} aria-label="Results" className="results">
        {found.length === 0 && <p className="noses">Nothing matches ‘{query}’.</p>}
        {found.map((command, index) => (
          <Row key={command.id} id={`${id}-${command.id}`} command={command} query={query} on={command === chosen} heading={found[index - 1]?.group !== command.group} onChoose={() => choose(command)} onPoint={() => setAt(index)} />
        ))}
      </div>
      <div className="fo" aria-hidden="true">
        <span><kbd>↑</kbd> <kbd>↓</kbd> move</span>
        <span><kbd>Enter</kbd> open</span>
        <span className="grow" />
        <span>Type <kbd>&gt;</kbd> for commands only</span>
      </div>
    </Dialog>
  );
}

type RowProps = { id: string; command: Command; query: string; on: boolean; heading: boolean; onChoose: () => void; onPoint: () => void };

function Row({ id, command, query, on, heading, onChoose, onPoint }: RowProps) {
  const [before, match, after] = marked(command.label, query);
  return (
    <>
      {heading && <div className="g" role="presentation">{command.group}</div>}
      <div id={id} className={`o ${on ? "on" : ""}`} role="option" aria-selected={on} onClick={onChoose} onPointerMove={onPoint} ref={(row) => { if (on) row?.scrollIntoView({ block: "nearest" }); }}>
        {command.agent ? <AgentMark type={command.agent} /> : <Icon name={command.icon ?? "cmd"} />}
        <span className="cut" dir="auto">{before}{match && <u>{match}</u>}{after}</span>
        <span className="rt">
          {command.note}
          {command.keys?.map((key) => <kbd key={key}>{key}</kbd>)}
        </span>
      </div>
    </>
  );
}

function ofSession(page: Page, mayRun: boolean): Command[] {
  const session = page.session.current;
  if (!session) return [];
  const group = "This session";
  const all: (Command | false | null)[] = [
    { id: "live", group, label: "Follow live", icon: "arrdn", keys: ["End"], run: session.followLive },
    mayRun && session.fork && { id: "fork", group, label: session.version > 0 ? `Fork from v${session.version}…` : "Fork…", icon: "fork", keys: ["Shift", "F"], run: session.fork },
    session.running && session.stop && { id: "stop", group, label: "Stop", icon: "stop", keys: ["Esc", "Esc"], run: session.stop },
    { id: "compare", group, label: "Compare versions", icon: "diff", keys: ["Shift", "D"], run: session.compare },
    { id: "artifacts", group, label: "Show artifacts", icon: "app", keys: ["G", "A"], run: () => session.showTab("artifacts") },
    { id: "files", group, label: "Show files", icon: "folder", keys: ["G", "F"], run: () => session.showTab("files") },
    { id: "versions", group, label: "Show versions", icon: "fork", keys: ["G", "V"], run: () => session.showTab("versions") },
    { id: "activity", group, label: "Show activity", icon: "list", keys: ["G", "L"], run: () => session.showTab("activity") },
    session.rename && { id: "rename", group, label: "Rename…", icon: "pencil", run: session.rename },
    session.remove && { id: "delete", group, label: "Delete…", icon: "x", run: session.remove },
  ];
  return all.filter((command): command is Command => !!command);
}

function ofPage(page: Page, mayRun: boolean): Command[] {
  const group = "Warren";
  const other = theme() === "dark" ? "light" : "dark";
  const all: (Command | false)[] = [
    mayRun && { id: "new", group, label: "New session", icon: "plus", keys: ["N"], run: () => page.startNew() },
    { id: "overview", group, label: "Overview", icon: "chart", run: () => navigate("/overview") },
    { id: "doctor", group, label: "Doctor", note: "what this machine gives its sandboxes", icon: "shield", run: () => navigate("/doctor") },
    { id: "settings", group, label: "Settings", icon: "gear", run: () => navigate("/settings") },
    { id: "theme", group, label: `Switch to ${other}`, icon: "moon", run: () => setTheme(other) },
    { id: "keys", group, label: "All keys", icon: "cmd", keys: ["?"], run: page.openKeys },
  ];
  return all.filter((command): command is Command => !!command);
}
