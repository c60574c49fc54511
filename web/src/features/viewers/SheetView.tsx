import { useState } from "react";
import { Empty } from "~/ui/Notice";
import { tabKeys } from "~/ui/tabKeys";
import { Grid } from "./Grid";
import { readSheets } from "./sheet";
import { Parsed, useParsed } from "./useParsed";

export default function SheetView({ bytes }: { bytes: Uint8Array<ArrayBuffer> }) {
  const sheets = useParsed(bytes, readSheets);
  const [chosen, setChosen] = useState(0);
  return (
    <Parsed of={sheets}>
      {(all) => {
        const sheet = all[chosen] ?? all[0];
        if (!sheet) return <Empty icon="sheet">The workbook has no sheet.</Empty>;
        return (
          <>
            {all.length > 1 && (
              <div className="fl sheets" role="tablist" aria-label="Sheets" onKeyDown={tabKeys}>
                {all.map((one, at) => <button key={at} type="button" role="tab" aria-selected={one === sheet} tabIndex={one === sheet ? 0 : -1} onClick={() => setChosen(at)}><bdi>{one.name}</bdi></button>)}
              </div>
            )}
            <Grid key={sheet.name} label={sheet.name} rows={sheet.rows} />
          </>
        );
      }}
    </Parsed>
  );
}
