// Writes packages/react/src/wire/generated.ts from docs/openapi.json. With --check it only says whether it is up to date.
import { readFile, writeFile, mkdir } from "node:fs/promises";
import openapi, { astToString } from "openapi-typescript";

const DOCUMENT = new URL("../../docs/openapi.json", import.meta.url);
const OUT = new URL("../packages/react/src/wire/generated.ts", import.meta.url);

const document = JSON.parse(await readFile(DOCUMENT, "utf8"));
// The shapes are what the client needs; the routes are named where they are called.
const ast = await openapi({ ...document, paths: {} }, { silent: true });
const text = `// Generated from docs/openapi.json by \`npm run codegen\`. Never edited.\n\n${astToString(ast)}`;

if (process.argv.includes("--check")) {
  const current = await readFile(OUT, "utf8").catch(() => "");
  if (current !== text) {
    console.error("packages/react/src/wire/generated.ts is not what docs/openapi.json says: run `npm run codegen`.");
    process.exit(1);
  }
} else {
  await mkdir(new URL(".", OUT), { recursive: true });
  await writeFile(OUT, text);
}
