// Names of a workbook in its formulas. The formula library takes short ones, such as `Tax`, for columns.

const TOKEN = /"(?:[^"]|"")*"|'(?:[^']|'')*'!|(?<![\p{L}\p{N}_.$:!])[\p{L}_][\p{L}\p{N}_.]*(?![\p{L}\p{N}_.(!:[])/gu;
/** Cells, a number or a text: what can stand in a formula in place of its name. */
const PLAIN = /^(?:(?:'(?:[^']|'')+'|[^'!\s()]+)!\$?[A-Z]{1,3}\$?\d+(?::\$?[A-Z]{1,3}\$?\d+)?|-?\d+(?:\.\d+)?|"(?:[^"]|"")*")$/i;

/** A formula with what its names stand for. */
export function withoutNames(formula: string, names: ReadonlyMap<string, string>): string {
  if (names.size === 0) return formula;
  const meanings = new Map([...names].map(([name, meaning]) => [name.toLowerCase(), meaning.replace(/^=/, "").trim()]));
  return formula.replace(TOKEN, (token) => {
    const meaning = meanings.get(token.toLowerCase());
    return meaning !== undefined && PLAIN.test(meaning) ? meaning : token;
  });
}
