// Finishes the package that tsc wrote: Node wants whole names of files in imports, which bundlers do without.
//
//   node ../../scripts/package.mjs      in packages/react, after tsc
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

// Also `".."` alone, as declarations write it for what a folder's index exports.
const SPECIFIER = /(\bfrom\s*|\bimport\s*\(?\s*)"(\.{1,2}(?:\/[^"]*)?)"/g;

for (const name of readdirSync("dist", { recursive: true })) {
  if (!/\.(js|d\.ts)$/.test(name)) continue;
  const file = join("dist", name);
  const whole = (_, before, to) => {
    const base = join(dirname(file), to);
    // What ends in `/` or `..` is a folder.
    const found = [`${to}.js`, `${to.replace(/\/$/, "")}/index.js`].find((_, at) => existsSync(at === 0 ? `${base}.js` : join(base, "index.js")));
    if (!found && !to.endsWith(".js")) throw new Error(`${file} imports ${to}, which is not there`);
    return `${before}"${found ?? to}"`;
  };
  writeFileSync(file, readFileSync(file, "utf8").replaceAll(SPECIFIER, whole));
}
