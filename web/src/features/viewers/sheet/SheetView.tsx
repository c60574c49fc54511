import { useState } from "react";
import { count, plural } from "~/lib/format";
import { Empty } from "~/ui/Notice";
import { tabKeys } from "~/ui/tabKeys";
import { Parsed, useParsed } from "../useParsed";
import type { Book } from "./model";
import { readBook } from "./read";
import "./sheet.css";
import { SheetGrid } from "./SheetGrid";

export default function SheetView({ bytes }: { bytes: Uint8Array<ArrayBuffer> }) {
  const book = useParsed(bytes, readBook);
  return <Parsed of={book}>{(all) => <Sheets book={all} />}</Parsed>;
}

function Sheets({ book }: { book: Book }) {
  const sheets = book.sheets.filter((sheet) => !sheet.isHidden);
  const [chosen, setChosen] = useState(0);
  const sheet = sheets[chosen] ?? sheets[0];
  if (!sheet) return <Empty icon="sheet">The workbook has no sheet.</Empty>;
  return (
    <>
      {sheets.length > 1 && (
        <div className="fl sheets" role="tablist" aria-label="Sheets" onKeyDown={tabKeys}>
          {sheets.map((one, at) => <button key={at} type="button" role="tab" aria-selected={one === sheet} tabIndex={one === sheet ? 0 : -1} onClick={() => setChosen(at)}><bdi>{one.name}</bdi></button>)}
        </div>
      )}
      <SheetGrid key={sheet.name} sheet={sheet} book={book} />
      <p className="grid-foot muted num">
        {plural(sheet.nRows, "row")} · {plural(sheet.nColumns, "column")}
        {book.nComputed > 0 && ` · ${plural(book.nComputed, "formula")} calculated for this preview`}
        {book.nFailed > 0 && ` · ${count(book.nFailed)} not calculated`}
      </p>
    </>
  );
}
