import { useSessionList } from "@warren/react";
import { useState } from "react";
import { cost, short, plural } from "~/lib/format";
import { Button } from "~/ui/Button";
import { Skeleton, Unread } from "~/ui/Notice";
import { Segment } from "~/ui/Segment";
import { usePageTitle } from "../shell/usePageTitle";
import { Burger } from "../shell/TopBar";
import { AgentsBox } from "./AgentsBox";
import { CostChart } from "./CostChart";
import { DoctorBox } from "./DoctorBox";
import { exportCsv } from "./exportCsv";
import { SandboxesBox } from "./SandboxesBox";
import type { Span } from "./spending";
import { TokenChart } from "./TokenChart";
import { useSpending } from "./useSpending";

const SPANS = [{ value: "day", label: "24 h" }, { value: "fortnight", label: "14 days" }, { value: "quarter", label: "90 days" }] as const;

/** The whole server: what runs, what was spent, what the machine gives. */
export function OverviewPage() {
  const [span, setSpan] = useState<Span>("fortnight");
  const spending = useSpending(span);
  const { sessions, hasMore } = useSessionList();
  const spent = spending.data ?? [];
  const name = SPANS.find((one) => one.value === span)?.label ?? "";
  const running = sessions.filter((session) => session.activeRunId);
  const tokens = spent.reduce((sum, one) => sum + one.cached + one.input + one.output, 0);
  const cached = spent.reduce((sum, one) => sum + one.cached, 0);
  const total = spent.reduce((sum, one) => sum + one.cost, 0);
  usePageTitle("Overview");
  // No number is better than a zero that nobody counted.
  const known = (value: string) => (spending.data ? value : "–");
  const versions = sessions.reduce((sum, session) => sum + session.version, 0);
  return (
    <>
      <header className="top">
        <Burger />
        <h1>Overview</h1>
        <span className="grow" />
        <Segment label="Time range" value={span} onChange={setSpan} choices={SPANS} />
        <Button look="line" icon="dl" className="hide-s" disabled={spent.length === 0} onClick={() => exportCsv(spent)}>Export</Button>
      </header>
      <section className="page overview" aria-label="Overview">
        <div className="ov-in">
          <div className="kpis">
            <Kpi label="Running now" value={String(running.length)} note={running.length === 0 ? "No agents running" : running.map((session) => session.name ?? "Unnamed").slice(0, 2).join(", ")} />
            <Kpi label={`Tokens, ${name}`} value={known(short(tokens))} note={!spending.data ? "Loading" : tokens > 0 ? `${Math.round((cached / tokens) * 100)} % read from cache` : "No model calls"} />
            <Kpi label={`Cost, ${name}`} value={known(cost(total))} note={!spending.data ? "Loading" : total === 0 && tokens > 0 ? "The demo model is free" : `${cost(spent.at(-1)?.cost ?? 0)} ${span === "day" ? "in the last two hours" : span === "fortnight" ? "today" : "this week"}`} />
            <Kpi label="Versions kept" value={`${short(versions)}${hasMore ? "+" : ""}`} note={hasMore ? `in ${sessions.length}+ sessions` : `in ${plural(sessions.length, "session")}`} />
          </div>
          {spending.state === "failed" && <Unread title="Spending could not be loaded" error={spending.error} onAgain={spending.refresh}>No data is lost.</Unread>}
          {spending.state === "loading" && <Skeleton rows={6} height={30} />}
          {spending.data && <div className={total > 0 ? "two" : ""}>{total > 0 && <CostChart spent={spent} />}<TokenChart spent={spent} /></div>}
          <div className="two"><SandboxesBox /><AgentsBox /></div>
          <DoctorBox />
        </div>
      </section>
    </>
  );
}

function Kpi({ label, value, note }: { label: string; value: string; note: string }) {
  return (
    <div className="kpi">
      <div className="l">{label}</div>
      <div className="v">{value}</div>
      <div className="n cut"><bdi>{note}</bdi></div>
    </div>
  );
}
