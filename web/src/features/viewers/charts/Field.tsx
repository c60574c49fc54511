import { Axes } from "./Axes";
import { Bars } from "./Bars";
import { across, fieldOf, heaps, middle, n, up, type Box, type Field as Place } from "./layout";
import type { Chart, Plot, Series } from "./read";
import { formatted, part, type Scale } from "./scale";

/** Everything that has axes. */
export function Field({ chart, room, size, ink }: { chart: Chart; room: Box; size: number; ink: string }) {
  const field = fieldOf(chart, room, size);
  const first = field.value;
  const scaleFor = (plot: Plot): Scale => (field.second && first && plot.axes.length > 0 && !plot.axes.includes(first.id) ? field.second : field.values);
  return (
    <>
      <Axes chart={chart} field={field} size={size} ink={ink} />
      {chart.plots.map((plot, at) => <Drawn key={at} plot={plot} chart={chart} field={field} scale={scaleFor(plot)} size={size} />)}
    </>
  );
}

type Props = { plot: Plot; chart: Chart; field: Place; scale: Scale; size: number };

function Drawn(props: Props) {
  switch (props.plot.kind) {
    case "column":
    case "bar":
      return <Bars {...props} />;
    case "line":
      return <Lines {...props} />;
    case "area":
      return <Areas {...props} />;
    case "scatter":
    case "bubble":
      return <Dots {...props} />;
    default:
      return null;
  }
}

function Lines({ plot, chart, field, scale, size }: Props) {
  const places = chart.categories.length;
  const spans = plot.grouping === "beside" ? null : heaps(plot.series, places, plot.grouping === "whole");
  return plot.series.map((series, at) => {
    const points = series.values.map((value, place) => (value === null ? null : pointOf(field, place, places, spans ? spans[at]![place]!.to : value, scale)));
    return <Stroke key={at} series={series} points={points} size={size} labels={(place) => (series.labels.value ? formatted(series.values[place] ?? 0, series.format) : "")} />;
  });
}

const pointOf = (field: Place, place: number, places: number, value: number, scale: Scale): [number, number] =>
  [n(across(field, middle(place, places, field.other?.isReversed ?? false))), n(up(field, value, scale, field.value?.isReversed))];

type StrokeProps = { series: Series; points: readonly ([number, number] | null)[]; size: number; labels: (place: number) => string };

/** A line through what is there; where a value is missing it is broken. */
function Stroke({ series, points, size, labels }: StrokeProps) {
  const path = points.map((point, at) => (point ? `${at > 0 && points[at - 1] ? "L" : "M"}${point[0]} ${point[1]}` : "")).join("");
  return (
    <g>
      {series.hasLine && <path d={path} fill="none" stroke={series.colour} strokeWidth={n(size / 5)} strokeLinejoin="round" strokeLinecap="round" />}
      {series.hasMarkers && points.map((point, at) => point && <circle key={at} cx={point[0]} cy={point[1]} r={n(size / 4)} fill={series.points.get(at) ?? series.colour} />)}
      {points.map((point, at) => point && labels(at) && <text key={at} x={point[0]} y={n(point[1] - size * 0.5)} textAnchor="middle" fontSize={n(size * 0.85)}>{labels(at)}</text>)}
    </g>
  );
}

function Areas({ plot, chart, field, scale }: Props) {
  const places = chart.categories.length;
  const spans = plot.grouping === "beside" ? plot.series.map((one) => one.values.map((value) => ({ from: 0, to: value ?? 0 }))) : heaps(plot.series, places, plot.grouping === "whole");
  return plot.series.map((series, at) => {
    const all = spans[at]!;
    const above = all.map((span, place) => pointOf(field, place, places, span.to, scale).join(" "));
    const below = all.map((span, place) => pointOf(field, place, places, span.from, scale).join(" ")).reverse();
    return <path key={at} d={`M${[...above, ...below].join("L")}Z`} fill={series.colour} fillOpacity={plot.grouping === "beside" ? 0.75 : 1} />;
  });
}

function Dots({ plot, field, scale, size }: Props) {
  const sizes = plot.series.flatMap((one) => one.sizes ?? []).map((one) => Math.abs(one ?? 0));
  const largest = sizes.reduce((most, one) => Math.max(most, one), 0) || 1;
  const radius = Math.min(field.box.w, field.box.h) / 8;
  return plot.series.map((series, at) => {
    const points = series.values.map((value, place): [number, number] | null => {
      const x = series.xs ? series.xs[place] : place + 1;
      return value === null || x === null || x === undefined || !field.xs ? null : [n(across(field, part(x, field.xs))), n(up(field, value, scale, field.value?.isReversed))];
    });
    if (plot.kind !== "bubble") return <Stroke key={at} series={series} points={points} size={size} labels={() => ""} />;
    return points.map((point, place) => point && <circle key={`${at} ${place}`} cx={point[0]} cy={point[1]} r={n(radius * Math.sqrt(Math.abs(series.sizes?.[place] ?? 0) / largest))} fill={series.points.get(place) ?? series.colour} fillOpacity={0.75} />);
  });
}
