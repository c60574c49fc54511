/** The part of the library that is used here; it brings no types. */
declare module "fast-formula-parser" {
  type Point = { row: number; col: number };
  type CellRef = { sheet: string } & Point;
  type RangeRef = { sheet: string; from: Point; to: Point };
  type Options = { onCell?: (ref: CellRef) => unknown; onRange?: (ref: RangeRef) => unknown; onVariable?: (name: string, sheet: string) => unknown };
  class FormulaParser {
    constructor(options: Options);
    parse(formula: string, at: { sheet: string } & Point, allowArray?: boolean): unknown;
    static DepParser: new (options: Pick<Options, "onVariable">) => { parse(formula: string, at: { sheet: string } & Point): (Partial<CellRef> & Partial<RangeRef>)[] };
  }
  export default FormulaParser;
}
