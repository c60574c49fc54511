import { memo, type CSSProperties } from "react";
import { visible } from "~/lib/ansi";
import type { Area, Book, Cell, Sheet } from "./model";
import type { Places } from "./places";
import { shownOf } from "./shown";

type Props = { cell: Cell | undefined; book: Book; sheet: Sheet; area: Area; rows: Places; columns: Places };

const MAX_CHARS = 1_000;
const SIDE: Record<string, string> = { left: "flex-start", right: "flex-end", center: "center" };

/** One cell, or several that are merged. */
export const CellBox = memo(function CellBox({ cell, book, sheet, area, rows, columns }: Props) {
  const [left, top] = [columns.start(area.left), rows.start(area.top)];
  const box: CSSProperties = { left, top, width: columns.start(area.right + 1) - left, height: rows.start(area.bottom + 1) - top };
  const look = book.looks[cell?.style ?? 0];
  if (!cell || !look) return <span className="cell" role="cell" style={box} />;
  const { text, align, colour } = shownOf(cell, look, book.is1904);
  const style: CSSProperties = { ...look.css, ...box, justifyContent: SIDE[align], textAlign: align, color: colour ?? look.css.color };
  const words = visible(text.slice(0, MAX_CHARS));
  // Text runs on over empty cells to its right, as in every spreadsheet.
  const reach = align === "left" && !look.wraps && typeof cell.value === "string" && area.left === area.right ? room(sheet, area, columns) : null;
  const title = cell.formula ? `=${cell.formula}` : text.length > 30 ? text.slice(0, 2_000) : undefined;
  return (
    <span className={`cell ${look.wraps ? "wraps" : ""} ${reach ? "runs-on" : ""}`} role="cell" title={title} style={style}>
      {reach ? <bdi style={{ width: reach }}>{words}</bdi> : <bdi>{words}</bdi>}
    </span>
  );
});

/** How many columns of a row are looked at for room. */
const MAX_REACH = 12;

function room(sheet: Sheet, area: Area, columns: Places): number | null {
  const row = sheet.rows.get(area.top);
  let last = area.left;
  while (last - area.left < MAX_REACH && (row?.get(last + 1)?.value ?? null) === null && row?.get(last + 1)?.formula == null) last += 1;
  return last > area.left ? columns.start(last + 1) - columns.start(area.left) - 6 : null;
}
