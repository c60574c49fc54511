import type { ReactNode } from "react";
import { tabKeys } from "./tabKeys";

export type TabItem<T extends string> = { value: T; label: string; note?: ReactNode };

type Props<T extends string> = { label: string; value: T; items: readonly TabItem<T>[]; onChange: (value: T) => void };

/** A row of tabs by the ARIA pattern: arrows move, Home and End jump. The panels are `#pane-<value>`. */
export function Tabs<T extends string>({ label, value, items, onChange }: Props<T>) {
  return (
    <div className="tabs" role="tablist" aria-label={label} onKeyDown={tabKeys}>
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
