// Signs of symbol fonts, which browsers do not have, as characters that every font has.

/** Bullets as Word numbers them in Symbol and Wingdings. */
const SIGNS: Record<string, string> = {
  f0b7: "2022", f0a7: "25aa", f06f: "25cb", f0d8: "27a2", f0fc: "2713", f076: "2756", f0a8: "25fb", f0b2: "2b22", f02d: "2013", f0e0: "2192", f06e: "25a0", f071: "2751",
};

/** Style sheets of a document with readable bullets. */
export function readable(css: string): string {
  return css
    .replace(/\\(f0[0-9a-f]{2})/gi, (whole, code: string) => (SIGNS[code.toLowerCase()] ? `\\${SIGNS[code.toLowerCase()]}` : whole))
    .replace(/[\uf000-\uf0ff]/g, (sign) => {
      const other = SIGNS[sign.charCodeAt(0).toString(16)];
      return other ? String.fromCharCode(parseInt(other, 16)) : "•";
    })
    .replace(/font-family:\s*["']?(?:Symbol|Wingdings(?: \d)?)["']?\s*(;|})/gi, "font-family: inherit$1");
}
