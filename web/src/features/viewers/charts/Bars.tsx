import { heaps, middle, n, type Field } from "./layout";
import type { Chart, Plot } from "./read";
import { formatted, part, type Scale } from "./scale";
import { onColour } from "./Pie";

type Props = { plot: Plot; chart: Chart; field: Field; scale: Scale; size: number };

/** Columns, and the same lying down: along the categories `place`, along the values `from` and `to`. */
export function Bars({ plot, chart, field, scale, size }: Props) {
  const places = chart.categories.length;
  const isBeside = plot.grouping === "beside";
  const spans = isBeside ? null : heaps(plot.series, places, plot.grouping === "whole");
  const count = isBeside ? plot.series.length : 1;
  const whole = 1 / Math.max(1, places);
  const thick = whole / (count + plot.gap);
  const isTurned = field.isLying !== (field.other?.isReversed ?? false);
  return plot.series.map((series, at) => series.values.map((value, place) => {
    if (value === null) return null;
    const { from, to } = spans?.[at]?.[place] ?? { from: Math.max(scale.min, Math.min(0, scale.max)), to: value };
    const shift = isBeside ? (at - (count - 1) / 2) * thick : 0;
    const along = middle(place, places, isTurned) + (isTurned ? -shift : shift);
    const bar = barOf(field, along, thick, part(from, scale), part(to, scale));
    const colour = series.points.get(place) ?? series.colour;
    const label = series.labels.value ? formatted(value, series.format) : "";
    return (
      <g key={`${at} ${place}`}>
        <rect x={n(bar.x)} y={n(bar.y)} width={n(Math.max(0.2, bar.w))} height={n(Math.max(0.2, bar.h))} fill={colour} />
        {label && <BarLabel bar={bar} label={label} isInside={!isBeside} isLying={field.isLying} isDown={to < from} colour={colour} size={size * 0.85} />}
      </g>
    );
  }));
}

type Rect = { x: number; y: number; w: number; h: number };

function barOf({ box, isLying, value }: Field, along: number, thick: number, from: number, to: number): Rect {
  const flip = (place: number) => (value?.isReversed ? 1 - place : place);
  const [low, high] = [Math.min(flip(from), flip(to)), Math.max(flip(from), flip(to))];
  if (isLying) return { x: box.x + low * box.w, y: box.y + (along - thick / 2) * box.h, w: (high - low) * box.w, h: thick * box.h };
  return { x: box.x + (along - thick / 2) * box.w, y: box.y + (1 - high) * box.h, w: thick * box.w, h: (high - low) * box.h };
}

type LabelProps = { bar: Rect; label: string; isInside: boolean; isLying: boolean; isDown: boolean; colour: string; size: number };

function BarLabel({ bar, label, isInside, isLying, isDown, colour, size }: LabelProps) {
  if (isInside) return <text x={n(bar.x + bar.w / 2)} y={n(bar.y + bar.h / 2 + size * 0.35)} textAnchor="middle" fontSize={n(size)} fill={onColour(colour)}>{label}</text>;
  if (isLying) return <text x={n(isDown ? bar.x - size * 0.3 : bar.x + bar.w + size * 0.3)} y={n(bar.y + bar.h / 2 + size * 0.35)} textAnchor={isDown ? "end" : "start"} fontSize={n(size)}>{label}</text>;
  return <text x={n(bar.x + bar.w / 2)} y={n(isDown ? bar.y + bar.h + size : bar.y - size * 0.3)} textAnchor="middle" fontSize={n(size)}>{label}</text>;
}
