// Where things stand in a chart: boxes in points. Pure.
import type { Axis, Chart, Plot, Series } from "./read";
import { formatted, part, scaleOf, type Scale } from "./scale";

export type Box = { x: number; y: number; w: number; h: number };
/** A number that goes into a drawing: whatever a file said, it is one. */
export const n = (value: number): number => (Number.isFinite(value) ? Math.round(Math.max(-1e5, Math.min(1e5, value)) * 100) / 100 : 0);

/** Of a letter, in parts of its height: that of a wide font, because a text that is cut is worse than some room beside it. */
const LETTER = 0.62;

/** How wide a text is, near enough to keep texts apart. */
export const widthOf = (text: string, size: number): number => text.length * size * LETTER;

export function clipped(text: string, width: number, size: number): string {
  const most = Math.floor(width / (size * LETTER) + 0.01);
  return text.length <= most ? text : `${text.slice(0, Math.max(1, most - 1))}…`;
}

export const isRound = (plot: Plot): boolean => plot.kind === "pie" || plot.kind === "doughnut";
const isFree = (plot: Plot): boolean => plot.kind === "scatter" || plot.kind === "bubble";

/** What a legend names: the parts of a pie, else the series. */
export function entriesOf(chart: Chart): { name: string; colour: string }[] {
  const first = chart.plots[0]!;
  if (isRound(first)) return chart.categories.map((name, at) => ({ name, colour: first.series[0]!.points.get(at) ?? first.series[0]!.colour })).slice(0, 40);
  return chart.plots.flatMap((plot) => plot.series.map(({ name, colour }) => ({ name, colour }))).slice(0, 40);
}

export type Field = { box: Box; isLying: boolean; values: Scale; second: Scale | null; xs: Scale | null; value: Axis | undefined; other: Axis | undefined };

/** The part with the axes: its box within `room`, its scales. */
export function fieldOf(chart: Chart, room: Box, size: number): Field {
  const isLying = chart.plots.some((plot) => plot.kind === "bar");
  const isPoints = chart.plots.every(isFree);
  const value = chart.axes.find((axis) => axis.isValue && (!isPoints || !axis.isAcross));
  const other = chart.axes.find((axis) => (isPoints ? axis.isValue && axis.isAcross : !axis.isValue));
  const isSecond = (plot: Plot) => value !== undefined && plot.axes.length > 0 && !plot.axes.includes(value.id);
  const values = scaleOfPlots(chart.plots.filter((plot) => !isSecond(plot)), value, chart.categories.length);
  const later = chart.plots.filter(isSecond);
  const second = later.length > 0 && later.length < chart.plots.length ? scaleOfPlots(later, undefined, chart.categories.length) : null;
  const xs = isPoints ? scaleOf(chart.plots.flatMap((plot) => plot.series.flatMap((one) => (one.xs ?? one.values.map((_, at) => at + 1)).filter((x) => x !== null))), { min: other?.min ?? null, max: other?.max ?? null }, false) : null;
  const numbers = Math.max(...values.ticks.map((tick) => widthOf(formatted(tick, value?.format ?? "General"), size)), size);
  const names = isLying ? Math.min(room.w * 0.3, Math.max(...chart.categories.map((name) => widthOf(name, size)), size)) : 0;
  const left = (isLying ? (other?.isHidden ? 0 : names) : value?.isHidden ? 0 : numbers) + size + ((isLying ? other : value)?.title ? size * 1.4 : 0);
  const bottom = ((isLying ? value : other)?.isHidden ? 0 : size * 1.7) + ((isLying ? value : other)?.title ? size * 1.4 : 0) + size * 0.3;
  const right = second ? Math.max(...second.ticks.map((tick) => widthOf(formatted(tick, "General"), size))) + size * 0.8 : isLying || xs ? size * 1.8 : size;
  const box = { x: room.x + left, y: room.y + size * 0.6, w: Math.max(10, room.w - left - right), h: Math.max(10, room.h - bottom - size * 0.6) };
  return { box, isLying, values, second, xs, value, other };
}

function scaleOfPlots(plots: readonly Plot[], axis: Axis | undefined, places: number): Scale {
  if (plots.some((plot) => plot.grouping === "whole")) return { min: 0, max: 1, ticks: [0, 0.2, 0.4, 0.6, 0.8, 1] };
  const all = plots.flatMap((plot) => (plot.grouping === "stacked" ? heaps(plot.series, places).flat().flatMap(({ from, to }) => [from, to]) : plot.series.flatMap((one) => one.values.filter((value) => value !== null))));
  return scaleOf(all, { min: axis?.min ?? null, max: axis?.max ?? null }, plots.some((plot) => ["column", "bar", "area"].includes(plot.kind)));
}

export type Span = { from: number; to: number };

/** Values put one upon the other, those below nought downwards; series by series. */
export function heaps(series: readonly Series[], places: number, isWhole = false): Span[][] {
  const up = new Array<number>(places).fill(0);
  const down = new Array<number>(places).fill(0);
  const sums = Array.from({ length: places }, (_, at) => series.reduce((sum, one) => sum + Math.abs(one.values[at] ?? 0), 0) || 1);
  return series.map((one) => Array.from({ length: places }, (_, at) => {
    const value = (one.values[at] ?? 0) / (isWhole ? sums[at]! : 1);
    const heap = value < 0 ? down : up;
    const from = heap[at]!;
    heap[at] = from + value;
    return { from, to: from + value };
  }));
}

/** Where the middle of a category is, along its axis, 0 to 1. */
export const middle = (at: number, places: number, isReversed: boolean): number => {
  const place = (at + 0.5) / Math.max(1, places);
  return isReversed ? 1 - place : place;
};

export const across = ({ box }: Field, place: number): number => box.x + place * box.w;
export const up = ({ box }: Field, value: number, scale: Scale, isReversed = false): number => {
  const place = part(value, scale);
  return box.y + (isReversed ? place : 1 - place) * box.h;
};
