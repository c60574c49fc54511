// Things that an agent made, of every kind that the page shows, read from the real server.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { faults } from "../axe.mjs";
import { docx, pdf, PNG, pptx, xlsx } from "../documents.mjs";

const SCRIPT = "<script>top.pwned=1</script><img src=x onerror=top.pwned=1>";
const SVG = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 40 40" onload="top.pwned=1"><script>top.pwned=1</script><circle cx="20" cy="20" r="18" fill="#0b6a5b"/></svg>`;

/** Made by python-pptx: see the script beside it. */
const CHARTS = readFileSync(new URL("../../src/features/viewers/fixtures/charts.pptx", import.meta.url));

const FILES = {
  "board.pptx": pptx([
    { title: "Summer ferries", points: ["Two routes are over 90 %", "A third boat pays from July"], picture: { name: "map.svg", bytes: SVG } },
    { title: "What we propose", boxes: [{ text: "Charter", x: 0.08, y: 0.4 }, { text: "Train crew", x: 0.4, y: 0.4, fill: "accent2" }], table: [["Route", "Load"], ["Norrvik–Sandö", "99 %"]] },
    { title: `Hostile ${SCRIPT}`, points: ["\u202Eevil", "x".repeat(3_000)], picture: { name: "dot.png", bytes: PNG } },
  ]),
  "rota.docx": docx("Crew rota for July", `Notes ${SCRIPT}`),
  "over-90.xlsx": xlsx({ "Over 90": [["Route", "Load"], ["Norrvik–Sandö", 0.99], [SCRIPT, 1]], Notes: [["Checked by hand"]] }),
  "report.pdf": pdf("Harbour report"),
  "sailings.csv": `route,load\n"Norrvik, Sandö",99\n"${SCRIPT}",${"9".repeat(5_000)}\n`,
  "method.md": `# Method\n\n- one\n- two ${SCRIPT}\n\n| a | b |\n|---|---|\n| 1 | 2 |\n`,
  "map.png": PNG,
  "load.svg": SVG,
  "parse.ts": `export const hours = range(5, 21); // \u0007 bell, \u001b[31m red, \u202E turned\n${"y".repeat(5_000)}\n`,
};

/** Has the agent write these files, whatever their bytes and names are. */
const written = (files) => `run: mkdir -p outputs && cd outputs && ${Object.entries(files).map(([name, content]) => `echo ${Buffer.from(content).toString("base64")} | base64 -d > '${name}'`).join(" && ")}`;

export const STORIES = [
  {
    name: "slides, documents, sheets, pages, tables, pictures and texts of an agent are shown, and what is hostile in them is text",
    async tell({ visit, pictures }) {
      const person = await visit();
      const { page } = person;
      await person.start(written(FILES), { name: "Every kind" });
      await person.idle();
      const panel = page.getByRole("complementary", { name: "Panel" });
      const shelf = page.getByRole("tablist", { name: "Artifacts of this session" });
      const open = (name) => shelf.getByRole("tab", { name: new RegExp(name.replace(".", "\\.")) }).click();
      const clean = async (what) => {
        assert.equal(await page.evaluate(() => "pwned" in window), false, what);
        assert.equal(await page.locator("img[src=x]").count(), 0, what);
        assert.deepEqual(await faults(page), [], what);
      };
      const seen = {
        "rota.docx": [panel.locator(".docx-view").getByText("Crew rota for July"), panel.locator(".docx-view").getByText("<script>top.pwned=1", { exact: false })],
        "over-90.xlsx": [panel.getByRole("cell", { name: "0.99" }), panel.getByText("<script>top.pwned=1", { exact: false })],
        "report.pdf": [panel.locator(".pdf-page .vh", { hasText: "Harbour report" })],
        "sailings.csv": [panel.getByRole("cell", { name: "Norrvik, Sandö" }), panel.getByText("<script>top.pwned=1", { exact: false })],
        "method.md": [panel.getByRole("heading", { name: "Method" }), panel.getByText("<img src=x onerror=", { exact: false })],
        "map.png": [panel.getByText("1 × 1")],
        "load.svg": [panel.locator("img[src^='blob:']")],
        "parse.ts": [panel.locator(".code .hl-k").first(), panel.locator(".code").getByText("^G bell", { exact: false })],
      };
      for (const [name, all] of Object.entries(seen)) {
        await open(name);
        for (const one of all) await one.first().waitFor({ state: "attached" });
        await clean(name);
      }
      // The other sheet, by a key.
      await open("over-90.xlsx");
      await panel.getByRole("tab", { name: "Over 90" }).press("ArrowRight");
      await panel.getByRole("cell", { name: "Checked by hand" }).waitFor();
      // Slides: one after the other by keys, and any by its small picture.
      await open("board.pptx");
      const slide = (number) => panel.getByRole("region", { name: new RegExp(`^Slide ${number} of 3`) });
      await slide(1).getByText("A third boat pays from July").waitFor();
      await slide(1).getByRole("img", { name: "map.svg" }).waitFor();
      await clean("the first slide");
      if (pictures) await page.screenshot({ path: join(pictures, "slides.png") });
      await slide(1).press("ArrowRight");
      await slide(2).getByText("Norrvik–Sandö").waitFor();
      const box = await slide(2).getByText("Charter").boundingBox();
      const next = await slide(2).getByText("Train crew").boundingBox();
      assert.ok(box.x < next.x && Math.abs(box.y - next.y) < 2, "boxes stand where the file says");
      await slide(2).press("End");
      await slide(3).getByText(SCRIPT, { exact: false }).waitFor();
      await clean("the hostile slide");
      await panel.getByRole("button", { name: "Slide 2: What we propose" }).click();
      await slide(2).getByText("Charter").waitFor();
      await panel.getByRole("button", { name: "Previous slide" }).click();
      await slide(1).getByText("Summer ferries").waitFor();
    },
  },
  {
    name: "charts and diagrams of a real presentation are drawn, each with its words, and nothing of them runs",
    async tell({ server, visit, pictures }) {
      const person = await visit({ width: 1600, height: 1000 });
      const { page } = person;
      const id = await person.start("count to 3");
      await person.idle();
      await server.put(id, "charts.pptx", CHARTS);
      await page.reload();
      await page.getByRole("tab", { name: /^Files/ }).click();
      await page.getByRole("treeitem", { name: /charts\.pptx/ }).click();
      const stage = page.locator(".slide-stage");
      const chart = (words) => stage.getByRole("img", { name: words });
      const to = async (title) => {
        await page.getByRole("button", { name: new RegExp(`^Slide \\d+: ${title}$`) }).click();
        await page.getByRole("region", { name: new RegExp(`: ${title}$`) }).waitFor();
        if (pictures) await stage.screenshot({ path: join(pictures, `chart-${title.replaceAll(" ", "-")}.png`) });
      };
      const marks = { Columns: ["rect", 20], "Stacked columns": ["rect", 20], Bars: ["rect", 3], "Bars of a whole": ["rect", 21], Lines: ["circle", 17], Area: ["path", 3], Pie: ["path", 4], Doughnut: ["path", 3], Scatter: ["circle", 7], Bubbles: ["circle", 3] };
      for (const [title, [mark, count]] of Object.entries(marks)) {
        await to(title);
        await chart(/chart/).waitFor();
        assert.equal(await chart(/chart/).locator(mark).count(), count, title);
      }
      await to("Columns");
      await chart("Column chart: Load by month, %. Norrvik, Holm, Kråkö.").waitFor();
      // The tallest bar is the largest value, and stands on the same ground as the others.
      const bars = await chart(/chart/).locator("rect").evaluateAll((all) => all.slice(0, 6).map((bar) => [Number(bar.getAttribute("height")), Number(bar.getAttribute("y")) + Number(bar.getAttribute("height"))]));
      assert.equal(Math.max(...bars.map(([height]) => height)), bars[5][0]);
      assert.ok(bars.every(([, ground]) => Math.abs(ground - bars[0][1]) < 0.1));
      assert.equal(await stage.getByRole("row", { name: "Jun 99 70 45" }).count(), 1);
      assert.deepEqual(await faults(page), []);
      await to("Steps");
      const steps = await Promise.all(["Load", "Sail", "Unload & clean"].map((text) => stage.getByText(text, { exact: true }).boundingBox()));
      assert.ok(steps[0].x < steps[1].x && steps[1].x < steps[2].x && Math.abs(steps[0].y - steps[2].y) < 30);
      await to("Steps without a drawing");
      await stage.getByText("Unload & clean").waitFor();
      await to("Radar");
      await stage.getByText("Chart: not drawn here").waitFor();
    },
  },
];
