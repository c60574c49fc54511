import type { Chart } from "./read";
import { formatted } from "./scale";

const NAMES = { column: "Column chart", bar: "Bar chart", line: "Line chart", area: "Area chart", pie: "Pie chart", doughnut: "Doughnut chart", scatter: "Scatter chart", bubble: "Bubble chart" } as const;
/** As many as somebody listens to. */
const MOST_ROWS = 60;
const MOST_COLUMNS = 12;

/** What a chart is, in one sentence. */
export function sentence(chart: Chart): string {
  const kinds = [...new Set(chart.plots.map((plot) => NAMES[plot.kind]))].join(" and ");
  const names = chart.plots.flatMap((plot) => plot.series.map((series) => series.name));
  const listed = names.length > 6 ? `${names.slice(0, 6).join(", ")} and ${names.length - 6} more` : names.join(", ");
  return `${kinds}${chart.title ? `: ${chart.title}` : ""}. ${listed}.`.slice(0, 400);
}

/** The same as a table, for those who do not see it. */
export function ChartWords({ chart }: { chart: Chart }) {
  const series = chart.plots.flatMap((plot) => plot.series).slice(0, MOST_COLUMNS);
  const isPoints = series.some((one) => one.xs !== null);
  return (
    <table className="vh">
      <caption>{sentence(chart)}</caption>
      <thead><tr><th scope="col">{isPoints ? "Point" : "Category"}</th>{series.map((one, at) => <th key={at} scope="col">{one.name}</th>)}</tr></thead>
      <tbody>
        {chart.categories.slice(0, MOST_ROWS).map((name, at) => (
          <tr key={at}>
            <th scope="row">{isPoints ? at + 1 : name}</th>
            {series.map((one, n) => <td key={n}>{words(one.xs?.[at], one.values[at], one.format)}</td>)}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function words(x: number | null | undefined, value: number | null | undefined, format: string): string {
  if (value === null || value === undefined) return "";
  const said = formatted(value, format);
  return x === null || x === undefined ? said : `${formatted(x, "General")}, ${said}`;
}
