// Pictures for the documentation, of a session that built a dashboard. Only taken when somebody asks for pictures.
import { readFileSync } from "node:fs";
import { join } from "node:path";

const DOCUMENTS = join(import.meta.dirname, "documents");

/** The review of a diff, the editor, a document, the board, and a phone. */
export async function portraits(person, pictures) {
  const { page, server } = person;
  const id = person.sessionId();
  const shot = (name) => page.screenshot({ path: join(pictures, `${name}.png`) });
  await person.send("run: sed -i 's/Revenue by month, in thousands of US dollars/Revenue by month (kUSD)/; s/Sales dashboard/Sales overview/g' outputs/dashboard/index.html");
  await person.idle(2);
  await page.goto(`${person.base}/sessions/${id}?tab=versions&version=2`);
  await page.locator(".chg-file .diff").waitFor();
  await page.getByRole("button", { name: "Full screen" }).click();
  await page.getByRole("region", { name: /side by side$/ }).waitFor();
  await shot("review");
  await page.keyboard.press("Escape");
  await page.evaluate(() => document.exitFullscreen().catch(() => {}));
  await page.getByRole("tab", { name: /^Files/ }).click();
  await page.getByRole("treeitem", { name: /dashboard/ }).click();
  await page.getByRole("treeitem", { name: /index\.html/ }).click();
  await page.getByRole("button", { name: "Edit", exact: true }).click();
  await page.locator(".cm-line").first().waitFor();
  await shot("editor");
  await page.getByRole("button", { name: "Done", exact: true }).click();
  await page.getByRole("button", { name: "Close the file" }).click();
  for (const name of ["python-dashboard.xlsx", "python-deck.pptx"]) await server.put(id, `outputs/${name.replace("python-", "sales-")}`, readFileSync(join(DOCUMENTS, name)));
  await page.getByRole("treeitem", { name: /sales-dashboard\.xlsx/ }).click();
  await page.locator(".sheet-chart, .sheet-body [role=cell]").first().waitFor();
  await shot("documents");
  await page.getByRole("button", { name: "Close the file" }).click();
  for (const [text, asks] of [["run: npm test", true], ["count to 4000", false]]) {
    const made = await server.api("/api/sessions", { method: "POST", body: { name: text === "count to 4000" ? "Count the parcels" : "Run the tests", options: asks ? { permissionMode: "ask" } : {} } });
    await server.api(`/api/sessions/${made.sessionId}/messages`, { method: "POST", body: { content: text, idempotencyKey: crypto.randomUUID() } });
  }
  await page.goto(`${person.base}/board`);
  await page.getByRole("region", { name: "Needs you" }).getByText("Run the tests").first().waitFor();
  await shot("board");
  await page.setViewportSize({ width: 390, height: 780 });
  await page.goto(`${person.base}/sessions/${id}`);
  await person.log().getByText("strongest region").first().waitFor({ state: "attached" });
  await shot("phone");
  await page.setViewportSize({ width: 1440, height: 900 });
}
