// Writes each text file of the build again in its two compressed forms, and refuses a first load that is too heavy.
import { readFile, readdir, stat, writeFile } from "node:fs/promises";
import { join, relative } from "node:path";
import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";

const DIST = new URL("../dist/", import.meta.url).pathname;
const LIMIT = 200 * 1024;
/** What a visitor of a conversation loads, whether or not it is split from the entry. */
const CHAT_ROUTE = "src/features/chat/ChatPage.tsx";
const TEXT = /\.(html|js|mjs|css|svg|json|wasm|txt|map)$/;

const sizes = new Map();
for (const entry of await readdir(DIST, { recursive: true })) {
  const path = join(DIST, entry);
  if (!TEXT.test(entry) || entry.startsWith(".vite") || !(await stat(path)).isFile()) continue;
  const bytes = await readFile(path);
  const br = await promisify(brotliCompress)(bytes, {
    params: { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length },
  });
  const gz = await promisify(gzip)(bytes, { level: 9 });
  if (br.length < bytes.length) await writeFile(`${path}.br`, br);
  if (gz.length < bytes.length) await writeFile(`${path}.gz`, gz);
  sizes.set(relative(DIST, path), { raw: bytes.length, gz: gz.length });
}

const manifest = JSON.parse(await readFile(join(DIST, ".vite/manifest.json"), "utf8"));
const files = new Set(["index.html", "assets/theme.js"]);
const visit = (key) => {
  const chunk = manifest[key];
  if (!chunk || files.has(chunk.file)) return;
  files.add(chunk.file);
  for (const css of chunk.css ?? []) files.add(css);
  for (const next of chunk.imports ?? []) visit(next);
};
visit("index.html");
visit(CHAT_ROUTE);

let total = 0;
for (const file of [...files].sort()) {
  const size = sizes.get(file);
  if (!size) throw new Error(`the build has no file ${file}`);
  total += size.gz;
  console.log(`${(size.gz / 1024).toFixed(1).padStart(8)} KB  ${file}`);
}
console.log(`${(total / 1024).toFixed(1).padStart(8)} KB  first load of the chat route, gzip (limit ${LIMIT / 1024} KB)`);
if (total > LIMIT) {
  console.error("The first load is too heavy: load what is not needed for reading a conversation lazily.");
  process.exit(1);
}
