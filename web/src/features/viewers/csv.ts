// Comma- or tab-separated values, as RFC 4180 has them and as people write them. Pure.

export function parseCsv(text: string, separator: string, most = Infinity): string[][] {
  const rows: string[][] = [];
  let row: string[] = [];
  let cell = "";
  let isQuoted = false;
  for (let at = 0; at < text.length; at += 1) {
    const c = text[at];
    if (isQuoted) {
      if (c !== '"') cell += c;
      else if (text[at + 1] === '"') {
        cell += '"';
        at += 1;
      } else isQuoted = false;
    } else if (c === '"' && cell === "") isQuoted = true;
    else if (c === separator) {
      row.push(cell);
      cell = "";
    } else if (c === "\n" || c === "\r") {
      if (c === "\r" && text[at + 1] === "\n") at += 1;
      row.push(cell);
      rows.push(row);
      row = [];
      cell = "";
      if (rows.length >= most) return rows;
    } else cell += c;
  }
  if (cell !== "" || row.length > 0) rows.push([...row, cell]);
  return rows;
}

/** What separates the cells of the first line most often. */
export function separatorOf(path: string, text: string): string {
  if (/\.tsv$/i.test(path)) return "\t";
  const line = text.slice(0, 4_000).split("\n")[0] ?? "";
  const counted = [",", ";", "\t", "|"].map((mark) => [mark, line.split(mark).length] as const);
  return counted.reduce((best, one) => (one[1] > best[1] ? one : best))[0];
}
