import { useState, type UIEvent } from "react";
import { count, plural } from "~/lib/format";
import { Empty } from "~/ui/Notice";
import { letter } from "./sheet/model";

const HEIGHT = 26;
const SPARE = 20;

type Props = { label: string; rows: readonly (readonly string[])[]; hasHead?: boolean };

/** Rows and columns; only the rows in view are in the document. */
export function Grid({ label, rows, hasHead = false }: Props) {
  const [top, setTop] = useState(0);
  const [height, setHeight] = useState(600);
  if (rows.length === 0) return <Empty icon="sheet">The table is empty.</Empty>;
  const head = hasHead ? rows[0] : undefined;
  const body = hasHead ? rows.slice(1) : rows;
  const columns = Math.max(...rows.slice(0, 500).map((row) => row.length));
  const first = Math.max(0, Math.floor(top / HEIGHT) - SPARE);
  const last = Math.min(body.length, Math.ceil((top + height) / HEIGHT) + SPARE);
  const onScroll = (event: UIEvent<HTMLDivElement>) => {
    setTop(event.currentTarget.scrollTop);
    setHeight(event.currentTarget.clientHeight);
  };
  const isNumber = (text: string) => /^\s*[-+−]?[\d.,' ]+%?\s*$/.test(text);
  return (
    <>
      <div className="grid-view" tabIndex={0} role="region" aria-label={label} onScroll={onScroll}>
        <table>
          <thead>
            <tr><th className="no" aria-label="Row" />{Array.from({ length: columns }, (_, column) => <th key={column}><bdi>{head ? (head[column] ?? "") : letter(column)}</bdi></th>)}</tr>
          </thead>
          <tbody>
            {first > 0 && <tr aria-hidden="true" style={{ height: first * HEIGHT }} />}
            {body.slice(first, last).map((row, at) => (
              <tr key={first + at} style={{ height: HEIGHT }}>
                <th className="no num">{first + at + 1}</th>
                {Array.from({ length: columns }, (_, column) => {
                  const cell = row[column] ?? "";
                  return <td key={column} className={isNumber(cell) ? "n num" : ""} title={cell.length > 40 ? cell.slice(0, 2000) : undefined}><bdi>{cell.slice(0, 300)}</bdi></td>;
                })}
              </tr>
            ))}
            {last < body.length && <tr aria-hidden="true" style={{ height: (body.length - last) * HEIGHT }} />}
          </tbody>
        </table>
      </div>
      <p className="grid-foot muted num">{plural(body.length, "row")} · {count(columns)} columns</p>
    </>
  );
}

