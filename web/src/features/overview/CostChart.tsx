import { agentColour, agentName } from "~/ui/AgentMark";
import { cost } from "~/lib/format";
import { ChartTable } from "./ChartTable";
import { inWords, roundUp, type Spent } from "./spending";

const [LEFT, RIGHT, TOP, BOTTOM] = [52, 626, 30, 176];

/** Cost in bars, each agent with its colour; the same as a sentence and as a table. */
export function CostChart({ spent }: { spent: readonly Spent[] }) {
  const agents = [...new Set(spent.flatMap((one) => [...one.byAgent.keys()]))].sort();
  const top = roundUp(Math.max(...spent.map((one) => one.cost), 0));
  const y = (value: number) => BOTTOM - (value / top) * (BOTTOM - TOP);
  const step = (RIGHT - LEFT) / Math.max(1, spent.length);
  const most = Math.max(...spent.map((one) => one.cost), 0);
  return (
    <div className="box">
      <div className="h">
        <h2 className="grow">Cost by day and agent</h2>
        <div className="leg">{agents.map((agent) => <span key={agent}><i style={{ background: agentColour(agent) }} />{agentName(agent)}</span>)}</div>
      </div>
      <div className="cw" tabIndex={0} role="group" aria-label="Cost chart">
        <svg className="chart" viewBox="0 0 640 206" role="img" aria-label={inWords(spent, cost)}>
          {[0, top / 2, top].map((value) => (
            <g key={value}><line className="gl" x1={LEFT} x2={RIGHT} y1={y(value)} y2={y(value)} /><text x={LEFT - 8} y={y(value) + 4} textAnchor="end">{axis(value)}</text></g>
          ))}
          {spent.map((one, at) => {
            const x = LEFT + at * step + step * 0.2;
            let floor = 0;
            return (
              <g key={at}>
                {agents.map((agent) => {
                  const part = one.byAgent.get(agent) ?? 0;
                  if (part <= 0) return null;
                  floor += part;
                  const height = Math.max(0.5, y(floor - part) - y(floor) - 1);
                  return <rect key={agent} x={x} y={y(floor)} width={step * 0.6} height={height} rx="1.5" fill={agentColour(agent)} />;
                })}
                {one.cost > 0 && (one.cost === most || at === spent.length - 1) && <text x={x + step * 0.3} y={y(one.cost) - 6} textAnchor="middle" className="top-value">{cost(one.cost)}</text>}
                <text x={x + step * 0.3} y="194" textAnchor="middle">{at === spent.length - 1 ? one.bucket.from.toLocaleDateString("en-GB", { day: "numeric", month: "short" }) : one.bucket.label}</text>
              </g>
            );
          })}
        </svg>
      </div>
      {most === 0 && <p className="chart-none muted">No spending in this period. Runs with a paid model appear here.</p>}
      <ChartTable caption={inWords(spent, cost)} head={["From", ...agents.map(agentName), "All"]} rows={spent.map((one) => [one.bucket.from.toLocaleDateString("en-GB"), ...agents.map((agent) => cost(one.byAgent.get(agent) ?? 0)), cost(one.cost)])} />
    </div>
  );
}

const axis = (value: number) => (value >= 1 || value === 0 ? `$${Number(value.toFixed(1))}` : value >= 0.01 ? `$${value.toFixed(2)}` : `$${Number(value.toPrecision(2))}`);
