import { useLayoutEffect, useMemo, useRef, useState, type ReactNode } from "react";
import { Empty } from "~/ui/Notice";
import { ChartDrawing } from "../charts/ChartDrawing";
import { CellBox } from "./CellBox";
import { HEIGHT, letter, WIDTH, type Area, type Book, type Sheet } from "./model";
import { Places } from "./places";
import { SheetPicture } from "./SheetPicture";

/** Row numbers at the left, letters above. */
const SIDE = 44;
const HEAD = 22;
/** Rows and columns beyond the last used one: a sheet goes on. */
const SPARE_ROWS = 12;
const SPARE_COLUMNS = 4;

type View = { top: number; left: number; width: number; height: number };
type Span = readonly [from: number, to: number];

/** A sheet as spreadsheets show it. Only the cells in view are in the document; frozen rows and columns stay in view. */
export function SheetGrid({ sheet, book }: { sheet: Sheet; book: Book }) {
  const box = useRef<HTMLDivElement>(null);
  const [view, setView] = useState<View>({ top: 0, left: 0, width: 600, height: 500 });
  // Charts and images may stand beyond the last used cell.
  const reach = (end: (one: Sheet["charts"][number]) => number, size: number) => Math.min(1_000, Math.ceil(Math.max(0, ...sheet.charts.map(end)) / size));
  const [nRows, nColumns] = [Math.max(sheet.nRows, reach((one) => one.y + one.h, HEIGHT)) + SPARE_ROWS, Math.max(sheet.nColumns, reach((one) => one.x + one.w, WIDTH)) + SPARE_COLUMNS];
  const rows = useMemo(() => new Places(nRows, sheet.heights, HEIGHT), [nRows, sheet]);
  const columns = useMemo(() => new Places(nColumns, sheet.widths, WIDTH), [nColumns, sheet]);
  const look = () => {
    const element = box.current;
    if (element) setView({ top: element.scrollTop, left: element.scrollLeft, width: element.clientWidth, height: element.clientHeight });
  };
  useLayoutEffect(() => {
    // What is in view depends on the size of the panel.
    if (!box.current) return;
    const watch = new ResizeObserver(look);
    watch.observe(box.current);
    return () => watch.disconnect();
  }, []);
  if (sheet.nRows === 0 && sheet.charts.length === 0) return <Empty icon="sheet">This sheet is empty.</Empty>;
  const frozenRows: Span = [0, Math.min(sheet.frozen.rows, nRows)];
  const frozenColumns: Span = [0, Math.min(sheet.frozen.columns, nColumns)];
  const inView: { rows: Span; columns: Span } = {
    rows: [Math.max(frozenRows[1], rows.at(view.top) - 5), Math.min(nRows, rows.at(view.top + view.height) + 6)],
    columns: [Math.max(frozenColumns[1], columns.at(view.left) - 2), Math.min(nColumns, columns.at(view.left + view.width) + 3)],
  };
  const cells = (across: Span, down: Span) => <Cells sheet={sheet} book={book} rows={rows} columns={columns} across={across} down={down} />;
  return (
    <div ref={box} className={`sheet-view ${sheet.hasGrid ? "" : "no-grid"}`} tabIndex={0} role="table" aria-label={sheet.name} aria-rowcount={sheet.nRows} aria-colcount={sheet.nColumns} onScroll={look}>
      <div className="sheet-all" role="presentation" style={{ width: SIDE + columns.total, height: HEAD + rows.total }}>
        <div className="sheet-body" role="rowgroup" style={{ left: SIDE, top: HEAD }}>{cells(inView.columns, inView.rows)}</div>
        {/* Layers without a height of their own, which stick to an edge while the rest scrolls beneath. */}
        <div className="sheet-layer top" role="presentation"><Pane left={SIDE} top={HEAD} width={columns.total} height={rows.start(frozenRows[1])}>{cells(inView.columns, frozenRows)}</Pane></div>
        <div className="sheet-layer side" role="presentation"><Pane left={SIDE} top={HEAD} width={columns.start(frozenColumns[1])} height={rows.total}>{cells(frozenColumns, inView.rows)}</Pane></div>
        <div className="sheet-layer corner" role="presentation"><Pane left={SIDE} top={HEAD} width={columns.start(frozenColumns[1])} height={rows.start(frozenRows[1])}>{cells(frozenColumns, frozenRows)}</Pane></div>
        {sheet.charts.map((one, at) => (
          <div key={at} className={`sheet-chart ${one.picture ? "is-picture" : ""}`} role="presentation" style={{ left: SIDE + one.x, top: HEAD + one.y, width: one.w, height: one.h }}>
            {one.chart ? <ChartDrawing chart={one.chart} width={one.w * 0.75} height={one.h * 0.75} ink="#404040" /> : one.picture ? <SheetPicture of={one.picture} /> : <span className="sheet-not-drawn">Chart: not drawn here</span>}
          </div>
        ))}
        <div className="sheet-layer top marks" role="presentation"><Letters columns={columns} span={inView.columns} /></div>
        <div className="sheet-layer side marks" role="presentation"><Numbers rows={rows} span={inView.rows} /></div>
        <div className="sheet-layer corner marks" role="presentation">
          <Letters columns={columns} span={frozenColumns} />
          <Numbers rows={rows} span={frozenRows} />
          <i className="sheet-tip" />
        </div>
      </div>
    </div>
  );
}

/** Frozen cells, cut off where the frozen part ends. */
function Pane({ children, ...place }: { left: number; top: number; width: number; height: number; children: ReactNode }) {
  return place.width > 0 && place.height > 0 ? <div className="sheet-frozen" role="rowgroup" style={place}>{children}</div> : null;
}

const range = ([from, to]: Span): number[] => Array.from({ length: Math.max(0, to - from) }, (_, at) => from + at);

function Letters({ columns, span }: { columns: Places; span: Span }) {
  return range(span).map((column) => <span key={column} className="sheet-letter" aria-hidden="true" style={{ left: SIDE + columns.start(column), width: columns.start(column + 1) - columns.start(column) }}>{letter(column)}</span>);
}

function Numbers({ rows, span }: { rows: Places; span: Span }) {
  return range(span).map((row) => <span key={row} className="sheet-number num" aria-hidden="true" style={{ top: HEAD + rows.start(row), height: rows.start(row + 1) - rows.start(row) }}>{row + 1}</span>);
}

type CellsProps = { sheet: Sheet; book: Book; rows: Places; columns: Places; across: Span; down: Span };

function Cells({ sheet, book, rows, columns, across, down }: CellsProps) {
  const merges = sheet.merges.filter((one) => one.bottom >= down[0] && one.top < down[1] && one.right >= across[0] && one.left < across[1]);
  const own = (row: number, column: number): Area | undefined => merges.find((one) => row >= one.top && row <= one.bottom && column >= one.left && column <= one.right);
  return range(down).map((row) => (
    <div key={row} role="row" aria-rowindex={row + 1}>
      {range(across).map((column) => {
        const merge = own(row, column);
        // A merged cell is drawn once, by the first of its cells in view.
        if (merge && (row !== Math.max(merge.top, down[0]) || column !== Math.max(merge.left, across[0]))) return null;
        const area = merge ?? { top: row, left: column, bottom: row, right: column };
        return <CellBox key={column} cell={sheet.rows.get(area.top)?.get(area.left)} book={book} sheet={sheet} area={area} rows={rows} columns={columns} />;
      })}
    </div>
  ));
}
