import { useMemo } from "react";
import { parseCsv, separatorOf } from "./csv";
import { Grid } from "./Grid";

const MOST = 100_000;

export function CsvView({ path, text }: { path: string; text: string }) {
  const rows = useMemo(() => parseCsv(text.replace(/^\uFEFF/, ""), separatorOf(path, text), MOST), [path, text]);
  return <Grid label={path} rows={rows} hasHead />;
}
