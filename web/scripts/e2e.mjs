// Runs every story in e2e/ against a server whose sign-in link is in WARREN_LINK.
import { readdir } from "node:fs/promises";
import { spawnSync } from "node:child_process";

const folder = new URL("../e2e/", import.meta.url);
const stories = (await readdir(folder).catch(() => [])).filter((name) => name.endsWith(".e2e.mjs")).sort();
const wanted = process.argv.slice(2);
let failed = 0;
for (const story of stories.filter((name) => wanted.length === 0 || wanted.some((word) => name.includes(word)))) {
  console.log(`— ${story}`);
  const run = spawnSync(process.execPath, [new URL(story, folder).pathname], { stdio: "inherit" });
  if (run.status !== 0) failed += 1;
}
if (stories.length === 0) {
  console.error("there is no story in e2e/");
  process.exit(1);
}
process.exit(failed === 0 ? 0 : 1);
