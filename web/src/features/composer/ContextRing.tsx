import type { Spending } from "@warren/react";
import { count, short } from "~/lib/format";
import { windowOf } from "./context-window";

const ROUND = 2 * Math.PI * 7.5;

/** How full the model's context is. */
export function ContextRing({ spending }: { spending: Spending }) {
  const used = spending.contextTokens;
  if (!used) return null;
  const whole = windowOf(spending.model);
  if (!whole) return <span className="ctx-ring num" title={`Context: ${count(used)} tokens`}>{short(used)} tokens</span>;
  const part = Math.min(1, used / whole);
  const colour = part >= 0.95 ? "var(--bad)" : part >= 0.8 ? "var(--warn)" : "var(--accent)";
  const said = `Context: ${count(used)} of ${count(whole)} tokens`;
  return (
    <span className="ctx-ring num" title={said} role="img" aria-label={said}>
      <svg viewBox="0 0 20 20" aria-hidden="true">
        <circle cx="10" cy="10" r="7.5" stroke="var(--press)" />
        <circle cx="10" cy="10" r="7.5" stroke={colour} strokeDasharray={`${part * ROUND} ${ROUND}`} strokeLinecap="round" />
      </svg>
      <span className="hide-s">{part < 0.01 ? "< 1 %" : `${Math.round(part * 100)} %`}</span>
    </span>
  );
}
