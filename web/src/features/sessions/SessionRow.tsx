import type { SessionListItem } from "@warren/react";
import { memo, useState, type KeyboardEvent, type MouseEvent } from "react";
import { when } from "~/lib/format";
import { navigate, sessionPath } from "~/lib/router";
import { AgentMark } from "~/ui/AgentMark";
import { Dot } from "~/ui/Dot";
import { Icon } from "~/ui/Icon";
import { Menu, type MenuItem } from "~/ui/Menu";
import { isPinned } from "./marks";
import { nameOf, type Member } from "./families";

type Props = {
  member: Member;
  current: string | null;
  onRename: ((session: SessionListItem, name: string) => Promise<unknown>) | null;
  onDelete: ((session: SessionListItem) => void) | null;
  /** What else can be done with a session. */
  actions: ((session: SessionListItem) => readonly MenuItem[]) | null;
};

/** A session in the list, with its forks under it on the curve. */
export const SessionRow = memo(function SessionRow(props: Props) {
  const { member, current, onRename, onDelete, actions } = props;
  const { session, state, line, number } = member;
  const [renaming, setRenaming] = useState(false);
  const name = nameOf(session);
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === "F2" && onRename) setRenaming(true);
    else if (event.key === "Delete" && onDelete) onDelete(session);
    else return;
    event.preventDefault();
  };
  return (
    <>
      {renaming && onRename ? (
        <Renaming session={session} onRename={onRename} onDone={() => setRenaming(false)} />
      ) : (
        <div className="ses-row">
          <a
            className="ses"
            href={sessionPath(session.sessionId)}
            aria-current={session.sessionId === current ? "page" : undefined}
            onClick={follow}
            onDoubleClick={() => onRename && setRenaming(true)}
            onKeyDown={onKeyDown}
          >
            <AgentMark type={session.type} />
            <div className="grow">
              <div className="nm cut"><bdi>{name}</bdi>{number !== null && <span className="muted num"> ({number})</span>}</div>
              <div className="mt">
                <span className={`cut ${state === "wait" ? "ask" : state === "fail" ? "err" : ""}`} dir="auto">{line}</span>
              </div>
            </div>
            <div className="rt">
              {(state === "idle" || state === "fail") && <span className="num">{when(session.lastActivity)}</span>}
              {isPinned(session) && <Icon name="pin" size="xs" />}
              <Dot state={state} />
            </div>
          </a>
          {actions && (
            <Menu label={`Actions for ${name}`} className="btn ghost sq tiny ses-more" align="end" items={[...(onRename ? [{ label: "Rename…", icon: "pencil" as const, onChoose: () => setRenaming(true) }] : []), ...actions(session)]}>
              <Icon name="down" size="xs" />
            </Menu>
          )}
        </div>
      )}
      {member.kids.length > 0 && (
        <div className="kids">
          {member.kids.map((kid) => (
            <SessionRow key={kid.session.sessionId} {...props} member={kid} />
          ))}
        </div>
      )}
    </>
  );
});

/** Follows a link inside the page, and leaves new tabs and windows to the browser. */
export function follow(event: MouseEvent<HTMLAnchorElement>) {
  if (event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
  event.preventDefault();
  navigate(event.currentTarget.pathname + event.currentTarget.search);
}

type RenamingProps = { session: SessionListItem; onRename: NonNullable<Props["onRename"]>; onDone: () => void };

function Renaming({ session, onRename, onDone }: RenamingProps) {
  const [name, setName] = useState(nameOf(session));
  const [problem, setProblem] = useState<string | null>(null);
  const save = () => {
    const next = name.trim();
    if (!next || next === nameOf(session)) return onDone();
    onRename(session, next).then(onDone, (error: unknown) => setProblem(error instanceof Error ? error.message : String(error)));
  };
  return (
    <form
      className="ses"
      onSubmit={(event) => {
        event.preventDefault();
        save();
      }}
    >
      <AgentMark type={session.type} />
      <div className="grow">
        <input className="inp-line" autoFocus aria-label="Session name" maxLength={200} value={name} onFocus={(event) => event.target.select()} onChange={(event) => setName(event.target.value)} onBlur={save} onKeyDown={(event) => event.key === "Escape" && onDone()} />
        {problem && <div className="mt err" role="alert">{problem}</div>}
      </div>
    </form>
  );
}
