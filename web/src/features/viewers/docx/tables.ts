// Conditional styles of tables. Word notes on each row and cell which apply; other programs leave that to the reader.

/** Marks first and last rows and columns, and bands, as the look of each table asks for. */
export function markTables(body: HTMLElement) {
  for (const table of body.querySelectorAll<HTMLTableElement>("table")) {
    const has = (name: string) => table.classList.contains(name);
    const rows = [...table.rows];
    const isMarked = rows.some((row) => /row|col/.test(row.className) || [...row.cells].some((cell) => /row|col/.test(cell.className)));
    if (isMarked) continue;
    rows.forEach((row, at) => {
      const isFirst = has("first-row") && at === 0;
      const isLast = has("last-row") && at === rows.length - 1;
      if (isFirst) row.classList.add("first-row");
      else if (isLast) row.classList.add("last-row");
      else if (!has("no-hband")) row.classList.add((at - (has("first-row") ? 1 : 0)) % 2 === 0 ? "odd-row" : "even-row");
      const cells = [...row.cells];
      cells.forEach((cell, column) => {
        if (has("first-col") && column === 0) cell.classList.add("first-col");
        else if (has("last-col") && column === cells.length - 1) cell.classList.add("last-col");
        else if (!has("no-vband")) cell.classList.add((column - (has("first-col") ? 1 : 0)) % 2 === 0 ? "odd-col" : "even-col");
      });
    });
  }
}
