import { short } from "~/lib/format";
import { ChartTable } from "./ChartTable";
import { roundUp, type Spent } from "./spending";

const [LEFT, RIGHT, TOP, BOTTOM] = [44, 386, 32, 178];
const LAYERS = [
  { key: "cached", name: "From cache", colour: "var(--c1)" },
  { key: "input", name: "New input", colour: "var(--c2)" },
  { key: "output", name: "Output", colour: "var(--ink-3)" },
] as const;

/** Tokens as layers: what a cache answered, what was new, what was written. */
export function TokenChart({ spent }: { spent: readonly Spent[] }) {
  const sums = spent.map((one) => one.cached + one.input + one.output);
  const top = roundUp(Math.max(...sums, 0));
  const x = (at: number) => LEFT + (at / Math.max(1, spent.length - 1)) * (RIGHT - LEFT);
  const y = (value: number) => BOTTOM - (value / top) * (BOTTOM - TOP);
  let floor = spent.map(() => 0);
  const layers = LAYERS.map((layer) => {
    const from = floor;
    const to = spent.map((one, at) => (from[at] ?? 0) + one[layer.key]);
    floor = to;
    const line = to.map((value, at) => `${at === 0 ? "M" : "L"}${x(at).toFixed(1)} ${y(value).toFixed(1)}`).join(" ");
    const back = from.map((value, at) => `L${x(at).toFixed(1)} ${y(value).toFixed(1)}`).reverse().join(" ");
    return { ...layer, line, area: `${line} ${back} Z` };
  });
  const all = sums.reduce((sum, one) => sum + one, 0);
  const cached = spent.reduce((sum, one) => sum + one.cached, 0);
  const sentence = all === 0 ? "No tokens in this period." : `${short(all)} tokens in all, ${Math.round((cached / all) * 100)} percent from cache.`;
  const day = (one: Spent | undefined) => one?.bucket.from.toLocaleDateString("en-GB", { day: "numeric", month: "short" }) ?? "";
  return (
    <div className="box">
      <div className="h">
        <h2 className="grow">Tokens</h2>
        <div className="leg">{LAYERS.map((layer) => <span key={layer.key}><i style={{ background: layer.colour }} />{layer.name}</span>)}</div>
      </div>
      <svg className="chart" viewBox="0 0 400 210" role="img" aria-label={sentence}>
        {[0, top / 2, top].map((value) => (
          <g key={value}><line className="gl" x1={LEFT} x2={RIGHT} y1={y(value)} y2={y(value)} /><text x={LEFT - 8} y={y(value) + 4} textAnchor="end">{short(Math.round(value))}</text></g>
        ))}
        {all > 0 && layers.map((layer) => <g key={layer.key}><path d={layer.area} fill={layer.colour} fillOpacity=".28" /><path d={layer.line} fill="none" stroke={layer.colour} strokeWidth="1.5" /></g>)}
        <text x={LEFT} y="198">{day(spent[0])}</text>
        <text x={RIGHT} y="198" textAnchor="end">{day(spent.at(-1))}</text>
      </svg>
      <ChartTable caption={sentence} head={["From", ...LAYERS.map((layer) => layer.name)]} rows={spent.map((one) => [one.bucket.from.toLocaleDateString("en-GB"), ...LAYERS.map((layer) => short(one[layer.key]))])} />
    </div>
  );
}
