import { n, type Box } from "./layout";
import type { Chart, Plot, Series } from "./read";
import { formatted } from "./scale";

/** Parts of a whole, from twelve o'clock on; rings of a doughnut from the inside to the outside. */
export function Pie({ plot, chart, room, size }: { plot: Plot; chart: Chart; room: Box; size: number }) {
  const radius = Math.max(5, Math.min(room.w, room.h) / 2 - size * 0.5);
  const [x, y] = [room.x + room.w / 2, room.y + room.h / 2];
  const hole = plot.kind === "doughnut" ? radius * plot.hole : 0;
  const ring = (radius - hole) / plot.series.length;
  return plot.series.map((series, at) => <Ring key={at} series={series} chart={chart} x={x} y={y} inner={hole + at * ring} outer={hole + (at + 1) * ring} size={size} />);
}

type RingProps = { series: Series; chart: Chart; x: number; y: number; inner: number; outer: number; size: number };

function Ring({ series, chart, x, y, inner, outer, size }: RingProps) {
  const values = series.values.map((value) => Math.abs(value ?? 0));
  const sum = values.reduce((all, value) => all + value, 0);
  if (!(sum > 0)) return null;
  let turned = 0;
  return values.map((value, at) => {
    const [from, to] = [turned / sum, (turned + value) / sum];
    turned += value;
    if (value === 0) return null;
    const colour = series.points.get(at) ?? series.colour;
    const label = labelOf(series, chart, at, value / sum);
    const [lx, ly] = point(x, y, (inner + outer) / 2 + (inner === 0 ? outer * 0.15 : 0), (from + to) / 2);
    return (
      <g key={at}>
        <path d={slice(x, y, inner, outer, from, to)} fill={colour} stroke="#ffffff" strokeWidth={n(size / 12)} fillRule="evenodd" />
        {label && to - from > 0.03 && <text x={lx} y={n(ly + size * 0.35)} textAnchor="middle" fill={onColour(colour)}>{label}</text>}
      </g>
    );
  });
}

function labelOf({ labels, values, format }: Series, chart: Chart, at: number, share: number): string {
  const parts = [labels.category ? chart.categories[at] : "", labels.value ? formatted(values[at] ?? 0, format) : "", labels.percent ? `${Math.round(share * 100)}%` : ""];
  return parts.filter(Boolean).join(", ");
}

function point(x: number, y: number, radius: number, turn: number): [number, number] {
  const angle = turn * 2 * Math.PI - Math.PI / 2;
  return [n(x + radius * Math.cos(angle)), n(y + radius * Math.sin(angle))];
}

function slice(x: number, y: number, inner: number, outer: number, from: number, to: number): string {
  // A whole turn would begin where it ends, and be nothing.
  const end = Math.min(to, from + 0.9999);
  const large = end - from > 0.5 ? 1 : 0;
  const [a, b] = [point(x, y, outer, from), point(x, y, outer, end)];
  if (inner <= 0) return `M${n(x)} ${n(y)}L${a.join(" ")}A${n(outer)} ${n(outer)} 0 ${large} 1 ${b.join(" ")}Z`;
  const [c, d] = [point(x, y, inner, end), point(x, y, inner, from)];
  return `M${a.join(" ")}A${n(outer)} ${n(outer)} 0 ${large} 1 ${b.join(" ")}L${c.join(" ")}A${n(inner)} ${n(inner)} 0 ${large} 0 ${d.join(" ")}Z`;
}

/** Black or white, whichever can be read on it. */
export function onColour(colour: string): string {
  const [r, g, b] = [1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16) / 255);
  return 0.299 * (r ?? 0) + 0.587 * (g ?? 0) + 0.114 * (b ?? 0) > 0.6 ? "#1c1a17" : "#ffffff";
}
