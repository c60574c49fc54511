// Operators between ranges, as in `SUMPRODUCT((A1:A9="x")*B1:B9)`: the formula library takes only the first cell of each.
import type FormulaParser from "fast-formula-parser";

type Held = { val: unknown; isArray: boolean };

/** Makes the parser's operators go through arrays cell by cell; one row, column or value spreads over the other operand. */
export function spreads(parser: FormulaParser) {
  const { utils } = parser;
  const [infix, prefix] = [utils._applyInfix.bind(utils), utils._applyPrefix.bind(utils)];
  const rowsOf = ({ val }: Held): unknown[][] | null => (Array.isArray(val) ? (val.every(Array.isArray) ? (val as unknown[][]) : [val as unknown[]]) : null);
  utils._applyInfix = (left, sign, right) => {
    const [a, b] = [rowsOf(left), rowsOf(right)];
    if (!a && !b) return infix(left, sign, right);
    const [height, width] = [Math.max(a?.length ?? 1, b?.length ?? 1), Math.max(a?.[0]?.length ?? 1, b?.[0]?.length ?? 1)];
    const at = (rows: unknown[][] | null, held: Held, row: number, column: number): Held => {
      if (!rows) return held;
      const line = rows[rows.length === 1 ? 0 : row];
      return { val: line?.[line.length === 1 ? 0 : column] ?? null, isArray: false };
    };
    return Array.from({ length: height }, (_, row) => Array.from({ length: width }, (_, column) => infix(at(a, left, row, column), sign, at(b, right, row, column))));
  };
  utils._applyPrefix = (signs, value, isArray) => {
    const rows = rowsOf({ val: value, isArray });
    // `--` makes numbers of truth values.
    const signed = (one: unknown) => prefix(signs, typeof one === "boolean" ? Number(one) : one, false);
    return rows ? rows.map((row) => row.map(signed)) : typeof value === "boolean" ? signed(value) : prefix(signs, value, isArray);
  };
}
