// What axe finds in a view.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

const SOURCE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** Serious and critical faults, one line each. The script comes from outside the page, which its policy allows no page. */
export async function faults(page) {
  await page.evaluate(SOURCE);
  const found = await page.evaluate(() => window.axe.run(document, { resultTypes: ["violations"] }));
  return found.violations
    .filter((fault) => fault.impact === "serious" || fault.impact === "critical")
    .flatMap((fault) => fault.nodes.map((node) => `${fault.id}: ${node.target.join(" ")} (${node.failureSummary?.split("\n")[1]?.trim() ?? fault.help})`));
}
