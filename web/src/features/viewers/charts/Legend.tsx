import { clipped, entriesOf, n, widthOf, type Box } from "./layout";
import type { Chart } from "./read";

/** Which colour is what: below one another at a side, else in a row. What has no room is left out; the table names all. */
export function Legend({ chart, box, size }: { chart: Chart; box: Box; size: number }) {
  const isRow = chart.legend === "top" || chart.legend === "bottom";
  const all = entriesOf(chart);
  const places = isRow ? rowOf(all.map((one) => one.name), box, size) : columnOf(all.length, box, size);
  return all.slice(0, places.length).map((one, at) => {
    const { x, y, w } = places[at]!;
    return (
      <g key={at}>
        <rect x={n(x)} y={n(y - size * 0.7)} width={n(size * 0.7)} height={n(size * 0.7)} fill={one.colour} />
        <text x={n(x + size)} y={n(y)}>{clipped(one.name, w, size)}</text>
      </g>
    );
  });
}

type Place = { x: number; y: number; w: number };

function columnOf(count: number, box: Box, size: number): Place[] {
  const step = size * 1.5;
  const fits = Math.max(1, Math.min(count, Math.floor(box.h / step)));
  const top = box.y + (box.h - fits * step) / 2 + size;
  return Array.from({ length: fits }, (_, at) => ({ x: box.x + size * 0.5, y: top + at * step, w: box.w - size * 1.6 }));
}

function rowOf(names: readonly string[], box: Box, size: number): Place[] {
  const widths = names.map((name) => Math.min(box.w / 2, widthOf(name, size)) + size * 2.2);
  const places: Place[] = [];
  let x = 0;
  for (const width of widths) {
    if (x + width > box.w && places.length > 0) break;
    places.push({ x, y: box.y + size * 1.3, w: width - size * 1.4 });
    x += width;
  }
  const shift = box.x + Math.max(0, (box.w - x) / 2);
  return places.map((place) => ({ ...place, x: place.x + shift }));
}
