import { clipped, middle, n, widthOf, type Field } from "./layout";
import type { Axis, Chart } from "./read";
import { formatted, part, type Scale } from "./scale";

type Props = { chart: Chart; field: Field; size: number; ink: string };

/** Lines, numbers and names at the edges. */
export function Axes({ chart, field, size, ink }: Props) {
  const { box, isLying, value, other, values, xs, second } = field;
  const isWhole = chart.plots.some((plot) => plot.grouping === "whole");
  const words = (tick: number, axis: Axis | undefined) => (isWhole ? `${Math.round(tick * 100)}%` : formatted(tick, axis?.format ?? "General"));
  const ground = part(Math.max(values.min, Math.min(0, values.max)), values);
  const flip = (place: number) => (value?.isReversed ? 1 - place : place);
  return (
    <g stroke="none">
      {value?.hasGrid && values.ticks.map((tick) => <Line key={tick} field={field} place={flip(part(tick, values))} isUpright={isLying} ink={ink} opacity={0.15} />)}
      <Line field={field} place={flip(ground)} isUpright={isLying} ink={ink} opacity={0.5} />
      {!value?.isHidden && (isLying ? <Below scale={values} words={(tick) => words(tick, value)} field={field} size={size} flip={flip} /> : <Beside scale={values} words={(tick) => words(tick, value)} field={field} size={size} flip={flip} />)}
      {second && <Beside scale={second} words={(tick) => formatted(tick, "General")} field={field} size={size} flip={(place) => place} isRight />}
      {!other?.isHidden && (xs ? <Below scale={xs} words={(tick) => words(tick, other)} field={field} size={size} flip={(place) => place} /> : <Names names={chart.categories} field={field} size={size} />)}
      {(isLying ? value : other)?.title && <text x={n(box.x + box.w / 2)} y={n(box.y + box.h + size * 3)} textAnchor="middle">{clipped((isLying ? value : other)!.title, box.w, size)}</text>}
      {(isLying ? other : value)?.title && <text transform={`translate(${n(size * 1.1)} ${n(box.y + box.h / 2)}) rotate(-90)`} textAnchor="middle">{clipped((isLying ? other : value)!.title, box.h, size)}</text>}
    </g>
  );
}

function Line({ field: { box }, place, isUpright, ink, opacity }: { field: Field; place: number; isUpright: boolean; ink: string; opacity: number }) {
  const at = isUpright ? box.x + place * box.w : box.y + (1 - place) * box.h;
  const ends = isUpright ? { x1: n(at), x2: n(at), y1: n(box.y), y2: n(box.y + box.h) } : { x1: n(box.x), x2: n(box.x + box.w), y1: n(at), y2: n(at) };
  return <line {...ends} stroke={ink} strokeOpacity={opacity} strokeWidth={0.8} />;
}

type Ticks = { scale: Scale; words: (tick: number) => string; field: Field; size: number; flip: (place: number) => number; isRight?: boolean };

function Beside({ scale, words, field: { box }, size, flip, isRight }: Ticks) {
  return scale.ticks.map((tick) => (
    <text key={tick} x={n(isRight ? box.x + box.w + size * 0.5 : box.x - size * 0.5)} y={n(box.y + (1 - flip(part(tick, scale))) * box.h + size * 0.35)} textAnchor={isRight ? "start" : "end"}>{words(tick)}</text>
  ));
}

function Below({ scale, words, field: { box }, size, flip }: Ticks) {
  const every = keepEvery(scale.ticks.map(words), box.w, size);
  return scale.ticks.map((tick, at) => at % every === 0 && <text key={tick} x={n(box.x + flip(part(tick, scale)) * box.w)} y={n(box.y + box.h + size * 1.4)} textAnchor="middle">{words(tick)}</text>);
}

/** Names of the categories, as many as can stand side by side. */
function Names({ names, field: { box, isLying, other }, size }: { names: readonly string[]; field: Field; size: number }) {
  const isReversed = other?.isReversed ?? false;
  if (isLying) {
    const every = Math.max(1, Math.ceil((names.length * size * 1.15) / box.h));
    return names.map((name, at) => at % every === 0 && <text key={at} x={n(box.x - size * 0.5)} y={n(box.y + middle(at, names.length, !isReversed) * box.h + size * 0.35)} textAnchor="end">{clipped(name, box.x - size * 0.5, size)}</text>);
  }
  const room = box.w / Math.max(1, names.length);
  // A few long names are cut; many names are thinned out, because the first letters of all of them say less than some whole.
  const every = room > size * 4 ? 1 : keepEvery(names, box.w, size);
  return names.map((name, at) => at % every === 0 && <text key={at} x={n(box.x + middle(at, names.length, isReversed) * box.w)} y={n(box.y + box.h + size * 1.4)} textAnchor="middle">{clipped(name, room * every - size * 0.3, size)}</text>);
}

function keepEvery(words: readonly string[], width: number, size: number): number {
  const widest = words.reduce((most, word) => Math.max(most, widthOf(word, size)), size) + size * 0.6;
  return Math.max(1, Math.ceil((Math.min(widest, width) * words.length) / width));
}
