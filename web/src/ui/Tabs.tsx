import type { KeyboardEvent, ReactNode } from "react";

export type TabItem<T extends string> = { value: T; label: string; note?: ReactNode };

type Props<T extends string> = { label: string; value: T; items: readonly TabItem<T>[]; onChange: (value: T) => void };

/** A row of tabs by the ARIA pattern: arrows move, Home and End jump. The panels are `#pane-<value>`. */
export function Tabs<T extends string>({ label, value, items, onChange }: Props<T>) {
  const onKeyDown = (event: KeyboardEvent<HTMLDivElement>) => {
    const at = items.findIndex((item) => item.value === value);
    const to = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: items.length - 1 }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    const next = items[(to + items.length) % items.length];
    if (!next) return;
    onChange(next.value);
    event.currentTarget.querySelector<HTMLElement>(`#tab-${next.value}`)?.focus();
  };
  return (
    <div className="tabs" role="tablist" aria-label={label} onKeyDown={onKeyDown}>
      {items.map((item) => (
        <button
          key={item.value}
          id={`tab-${item.value}`}
          type="button"
          role="tab"
          aria-selected={item.value === value}
          aria-controls={`pane-${item.value}`}
          tabIndex={item.value === value ? 0 : -1}
          onClick={() => onChange(item.value)}
        >
          {item.label}
          {item.note !== undefined && <small className="num">{item.note}</small>}
        </button>
      ))}
    </div>
  );
}
