import { useId, useLayoutEffect, useRef, useState, type KeyboardEvent, type ReactNode } from "react";
import { focusIsLost } from "~/lib/focus";
import { Icon } from "./Icon";
import type { IconName } from "./IconSprite";

export type MenuItem = {
  label: ReactNode;
  icon?: IconName;
  note?: string;
  checked?: boolean;
  disabled?: boolean;
  onChoose: () => void;
};

type Props = {
  label: string;
  items: readonly MenuItem[];
  className?: string;
  align?: "start" | "end";
  /** -1 where another key leads here too. */
  tabIndex?: number;
  children: ReactNode;
};

/** A button that opens a menu: arrows move, a letter jumps, Escape closes and gives the focus back. */
export function Menu({ label, items, className = "btn line", align = "start", tabIndex, children }: Props) {
  const [open, setOpen] = useState(false);
  const id = useId();
  const button = useRef<HTMLButtonElement>(null);
  const list = useRef<HTMLDivElement>(null);

  useLayoutEffect(() => {
    const menu = list.current;
    const from = button.current?.getBoundingClientRect();
    if (!open || !menu || !from) return;
    menu.showPopover?.();
    const size = menu.getBoundingClientRect();
    const left = align === "start" ? from.left : from.right - size.width;
    const below = from.bottom + 4 + size.height <= innerHeight;
    menu.style.left = `${Math.max(8, Math.min(left, innerWidth - size.width - 8))}px`;
    menu.style.top = `${below ? from.bottom + 4 : Math.max(8, from.top - 4 - size.height)}px`;
    const first = menu.querySelector<HTMLElement>("[aria-checked=true]") ?? menu.querySelector<HTMLElement>("button");
    first?.focus();
  }, [open, align]);

  const close = () => {
    setOpen(false);
    button.current?.focus();
  };
  const onKeyDown = (event: KeyboardEvent<HTMLDivElement>) => {
    const rows = [...event.currentTarget.querySelectorAll<HTMLButtonElement>("button:not(:disabled)")];
    const at = rows.indexOf(document.activeElement as HTMLButtonElement);
    const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: rows.length - 1 }[event.key];
    if (event.key === "Escape" || event.key === "Tab") close();
    else if (to !== undefined) rows[(to + rows.length) % rows.length]?.focus();
    else if (event.key.length === 1) {
      const starts = (row: HTMLElement) => row.textContent?.toLowerCase().startsWith(event.key.toLowerCase());
      [...rows.slice(at + 1), ...rows.slice(0, at + 1)].find(starts)?.focus();
      return;
    } else return;
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <>
      <button
        ref={button}
        type="button"
        className={className}
        aria-label={label}
        tabIndex={tabIndex}
        aria-haspopup="menu"
        aria-expanded={open}
        aria-controls={open ? id : undefined}
        onClick={() => setOpen(!open)}
      >
        {children}
      </button>
      {open && (
        <div
          ref={list}
          id={id}
          popover="auto"
          className="menu"
          role="menu"
          aria-label={label}
          onKeyDown={onKeyDown}
          onToggle={(event) => {
            if (event.newState !== "closed") return;
            setOpen(false);
            if (focusIsLost()) button.current?.focus();
          }}
        >
          {items.map((item, index) => (
            <button
              key={index}
              type="button"
              role={item.checked === undefined ? "menuitem" : "menuitemradio"}
              aria-checked={item.checked}
              disabled={item.disabled}
              tabIndex={-1}
              onClick={() => {
                close();
                item.onChoose();
              }}
            >
              {item.icon && <Icon name={item.icon} size="s" />}
              <span className="grow cut">{item.label}</span>
              {item.note && <small>{item.note}</small>}
              {item.checked && <Icon name="check" size="s" />}
            </button>
          ))}
        </div>
      )}
    </>
  );
}
