import { useId, useLayoutEffect, useRef, useState } from "react";
import { focusIsLost, giveBack } from "~/lib/focus";
import { Icon } from "~/ui/Icon";
import { backendOf, guardsOf, inWords, type Guard } from "./isolation";

/** The isolation a session really has: one bar a guard, and the list in words behind it. */
export function IsolationBadge({ isolation }: { isolation: unknown }) {
  const [open, setOpen] = useState(false);
  const id = useId();
  const button = useRef<HTMLButtonElement>(null);
  const pop = useRef<HTMLDivElement>(null);
  const guards = guardsOf(isolation);
  useLayoutEffect(() => {
    const from = button.current?.getBoundingClientRect();
    if (!open || !pop.current || !from) return;
    pop.current.showPopover?.();
    const width = pop.current.offsetWidth;
    pop.current.style.top = `${from.bottom + 6}px`;
    pop.current.style.left = `${Math.max(8, Math.min(from.right - width, innerWidth - width - 8))}px`;
    pop.current.focus();
  }, [open]);
  const close = () => {
    setOpen(false);
    if (focusIsLost() || document.activeElement === button.current || pop.current?.contains(document.activeElement)) giveBack(button.current);
  };
  if (!guards) {
    return (
      <span className="badge asleep" title="No sandbox is running for this session">
        <Icon name="shield" />
        <span className="lab">paused</span>
      </span>
    );
  }
  return (
    <>
      <button ref={button} type="button" className="badge" aria-haspopup="dialog" aria-expanded={open} aria-controls={open ? id : undefined} title="What isolates this session" onClick={() => setOpen(!open)}>
        <Icon name="shield" />
        <span className="lab">{backendOf(isolation)}</span>
        <span className="guards" role="img" aria-label={inWords(guards)}>
          {guards.map((guard) => (
            <i key={guard.name} className={guard.state === "on" ? "" : guard.state} />
          ))}
        </span>
      </button>
      {open && (
        <div ref={pop} id={id} popover="auto" className="pop iso" role="dialog" aria-label="Isolation of this session" tabIndex={-1} onToggle={(event) => event.newState === "closed" && close()}>
          <div className="row">
            <h2 className="grow">Isolation of this session</h2>
            <span className="chip acc">{inWords(guards).replace(" guards", "")}</span>
          </div>
          <GuardList guards={guards} />
        </div>
      )}
    </>
  );
}

const SAID = { on: "In force", part: "Partly in force", off: "Missing" } as const;

/** Guards in words. */
export function GuardList({ guards }: { guards: readonly Guard[] }) {
  return (
    <ul>
      {guards.map((guard) => (
        <li key={guard.name} className={guard.state === "on" ? "" : guard.state}>
          <span role="img" aria-label={SAID[guard.state]}>
            <Icon name={guard.state === "on" ? "check" : guard.state === "part" ? "alert" : "x"} size="s" />
          </span>
          <b>{guard.name}</b>
          <span>{guard.words}</span>
        </li>
      ))}
    </ul>
  );
}
