type Props = { caption: string; head: readonly string[]; rows: readonly (readonly string[])[] };

/** A chart as a table, for those who do not see it and those who want the numbers. */
export function ChartTable({ caption, head, rows }: Props) {
  return (
    <details className="chart-table">
      <summary>As a table</summary>
      <div className="scrollx" tabIndex={0} role="region" aria-label={caption}>
        <table className="tbl num">
          <caption className="vh">{caption}</caption>
          <thead><tr>{head.map((name) => <th key={name} scope="col">{name}</th>)}</tr></thead>
          <tbody>{rows.map((row, at) => <tr key={at}>{row.map((cell, n) => <td key={n}>{cell}</td>)}</tr>)}</tbody>
        </table>
      </div>
    </details>
  );
}
