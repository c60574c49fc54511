/** The part of the library that is used here; it brings no types. */
declare module "fast-formula-parser" {
  type Point = { row: number; col: number };
  type CellRef = { sheet: string } & Point;
  type RangeRef = { sheet: string; from: Point; to: Point };
  type Options = { onCell?: (ref: CellRef) => unknown; onRange?: (ref: RangeRef) => unknown; onVariable?: (name: string, sheet: string) => unknown; functions?: Record<string, (...args: never[]) => unknown> };
  type Held = { val: unknown; isArray: boolean };
  class FormulaError {
    constructor(name: string);
    static DIV0: FormulaError;
    static NA: FormulaError;
    static NUM: FormulaError;
    static VALUE: FormulaError;
    static REF: FormulaError;
  }
  class FormulaParser {
    constructor(options: Options);
    parse(formula: string, at: { sheet: string } & Point, allowArray?: boolean): unknown;
    /** Applies operators; replaced where an operand may be an array. */
    utils: { _applyInfix(left: Held, sign: string, right: Held): unknown; _applyPrefix(signs: string[], value: unknown, isArray: boolean): unknown };
    static FormulaError: typeof FormulaError;
    static DepParser: new (options: Pick<Options, "onVariable">) => { parse(formula: string, at: { sheet: string } & Point): (Partial<CellRef> & Partial<RangeRef>)[] };
  }
  export default FormulaParser;
}
