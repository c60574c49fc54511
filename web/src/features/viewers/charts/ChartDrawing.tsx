import { memo } from "react";
import { Field } from "./Field";
import { Legend } from "./Legend";
import { clipped, isRound, n, type Box } from "./layout";
import { Pie } from "./Pie";
import type { Chart } from "./read";
import { ChartWords, sentence } from "./ChartWords";

type Props = { chart: Chart; /** In points. */ width: number; height: number; ink: string; isSmall?: boolean };

/** A chart as a drawing of its own: numbers become places, texts stay texts, nothing of the file is taken as markup. */
export const ChartDrawing = memo(function ChartDrawing({ chart, width, height, ink, isSmall }: Props) {
  const [w, h] = [Math.max(40, n(width)), Math.max(40, n(height))];
  // Letters that would fill a small chart give way to what it shows.
  const size = Math.min(chart.size, Math.max(6, h / 14));
  const head = chart.title ? size * 2.2 : size * 0.4;
  const legend = legendBox(chart, { x: 0, y: head, w, h: h - head }, size);
  const round = isRound(chart.plots[0]!);
  return (
    <>
      <svg className="chart-drawn" viewBox={`0 0 ${w} ${h}`} role="img" aria-label={sentence(chart)} fill={ink} fontSize={n(size)}>
        {chart.title && <text x={n(w / 2)} y={n(size * 1.5)} fontSize={n(size * 1.2)} textAnchor="middle">{clipped(chart.title, w, size * 1.2)}</text>}
        {round ? <Pie plot={chart.plots[0]!} chart={chart} room={legend.rest} size={size} /> : <Field chart={chart} room={legend.rest} size={size} ink={ink} />}
        {legend.box && <Legend chart={chart} box={legend.box} size={size} />}
      </svg>
      {!isSmall && <ChartWords chart={chart} />}
    </>
  );
});

/** Room for the legend, and what is left. */
function legendBox(chart: Chart, room: Box, size: number): { box: Box | null; rest: Box } {
  const side = Math.min(room.w * 0.28, 14 * size);
  const line = size * 1.8;
  switch (chart.legend) {
    case "none":
      return { box: null, rest: room };
    case "right":
      return { box: { ...room, x: room.x + room.w - side, w: side }, rest: { ...room, w: room.w - side } };
    case "left":
      return { box: { ...room, w: side }, rest: { ...room, x: room.x + side, w: room.w - side } };
    case "top":
      return { box: { ...room, h: line }, rest: { ...room, y: room.y + line, h: room.h - line } };
    case "bottom":
      return { box: { ...room, y: room.y + room.h - line, h: line }, rest: { ...room, h: room.h - line } };
  }
}
