// What differs between two versions.
import assert from "node:assert/strict";
import { faults } from "../axe.mjs";

const tab = (page, name) => page.getByRole("tab", { name: new RegExp(`^${name}`) }).click();
const tree = (page) => page.getByRole("tree", { name: "Changed files" });
const shown = (page, path) => page.locator(".chg-file").and(page.getByRole("region", { name: path, exact: true }));

/** Far more than it takes, for a machine that is busy; the figure of a quiet one is in docs/benchmarks.md. */
const OPENS_MS = 5_000;

export const STORIES = [
  {
    name: "changed files are walked by keys in a tree with counts, and what has no lines is explained",
    async tell({ visit }) {
      const person = await visit();
      const { page } = person;
      await person.start("run: mkdir -p src/deep && seq 1 60 > src/deep/long.txt && echo x > run.sh && printf 'a\\0b' > data.bin && echo gone > gone.txt");
      await person.idle();
      const line = "const words = 'a line that is far too long for a panel, and goes on and on until it has left every screen there is'";
      await person.send(`run: sed -i 's/^30$/thirty/;5d' src/deep/long.txt && chmod 755 run.sh && printf 'a\\0c' > data.bin && rm gone.txt && touch empty && echo "${line}" > src/wide.ts`);
      await person.sees("Saved v2");
      await tab(page, "Versions");
      await tree(page).getByRole("treeitem", { name: /long\.txt/ }).waitFor();
      await tree(page).getByRole("img", { name: "1 line added, 2 lines removed" }).waitFor();
      await page.locator(".chg-sum").getByText("6 files").waitFor();
      assert.deepEqual(await faults(page), []);
      // By keys alone: along the tree, then from file to file.
      await tree(page).focus();
      await page.keyboard.press("Home");
      await page.keyboard.press("ArrowDown");
      await page.keyboard.press("ArrowDown");
      await shown(page, "src/deep/long.txt").waitFor();
      const diff = page.getByRole("region", { name: "Changes to src/deep/long.txt" });
      await diff.getByText("thirty").waitFor();
      // Real numbers: line 5 is gone, so that 30 is 29 now.
      assert.deepEqual(await diff.locator(".l.p i").allTextContents(), ["", "29"]);
      assert.deepEqual(await diff.locator(".l.m i").allTextContents(), ["5", "", "30", ""]);
      await diff.getByRole("button", { name: "18 unchanged lines" }).click();
      await diff.locator(".l", { hasText: /^1514\s*15$/ }).waitFor();
      await diff.getByRole("button", { name: "27 unchanged lines" }).click();
      await diff.locator(".l", { hasText: /^6059\s*60$/ }).waitFor();
      assert.deepEqual(await faults(page), []);
      const walked = [];
      await diff.focus();
      for (let n = 0; n < 5; n++) {
        await page.keyboard.press("j");
        walked.push(await page.locator(".chg-file").getAttribute("aria-label"));
      }
      assert.deepEqual(walked, ["src/wide.ts", "data.bin", "empty", "gone.txt", "run.sh"]);
      await page.getByText("Only permissions changed").waitFor();
      await page.getByText("644 → 755").waitFor();
      await page.keyboard.press("Alt+ArrowUp");
      await shown(page, "gone.txt").waitFor();
      await page.getByRole("button", { name: "Previous file" }).click();
      await page.getByText("Empty file added").waitFor();
      await page.getByRole("button", { name: "Previous file" }).click();
      await page.getByText("Binary file changed").waitFor();
      // Long lines: aside, or wrapped, as the person likes, from now on.
      await page.getByRole("button", { name: "Previous file" }).click();
      await page.getByRole("button", { name: "Wrap", exact: true }).click();
      const wide = page.getByRole("region", { name: "Changes to src/wide.ts" });
      await page.waitForFunction(() => { const box = document.querySelector(".cmp-diff"); return box && box.scrollWidth <= box.clientWidth && box.querySelector(".l.p"); });
      assert.ok((await wide.locator(".l.p").first().boundingBox()).height > 25);
      await page.reload();
      await page.getByRole("button", { name: "Wrap", exact: true, pressed: true }).waitFor();
      // The filter.
      await page.getByLabel("Filter changed files").fill("deep");
      await page.getByText("1 of 1").waitFor();
      await page.getByLabel("Filter changed files").fill("nothing such");
      await page.getByText("No changed file has").waitFor();
      // Filled the screen, beside each other.
      await page.getByLabel("Filter changed files").fill("");
      await page.getByRole("button", { name: "Full screen" }).click();
      await page.getByRole("region", { name: "Changes to src/deep/long.txt, side by side" }).waitFor();
      assert.deepEqual(await faults(page), []);
    },
  },
  {
    name: "a diff of 5,000 files opens at once, is filtered and walked, and draws only what is in view",
    async tell({ visit }) {
      const person = await visit();
      const { page } = person;
      await person.start("run: for d in $(seq 1 50); do mkdir -p src/part$d; for n in $(seq 1 100); do echo \"$d $n\" > src/part$d/f$n.ts; done; done");
      await person.sees("Saved v1");
      await tab(page, "Activity");
      await page.locator("#pane-activity").waitFor();
      const ms = await page.evaluate(async () => {
        const begun = performance.now();
        document.querySelector("#tab-versions").click();
        const isThere = () => document.querySelector(".chg-tree [role=treeitem]") && document.querySelector(".chg-file .diff .l");
        while (!isThere()) await new Promise((done) => requestAnimationFrame(done));
        return Math.round(performance.now() - begun);
      });
      console.log(`      a diff of 5,000 files opened in ${ms} ms`);
      assert.ok(ms < OPENS_MS, `${ms} ms`);
      assert.ok((await tree(page).getByRole("treeitem").count()) < 120);
      await page.getByText("1 of 5,000").waitFor();
      assert.deepEqual(await faults(page), []);
      await tree(page).focus();
      await page.keyboard.press("End");
      await shown(page, "src/part50/f100.ts").waitFor();
      await page.getByText("5,000 of 5,000").waitFor();
      await tree(page).getByRole("treeitem", { name: /f100\.ts/, selected: true }).waitFor();
      await page.getByLabel("Filter changed files").fill("part7/f42");
      await page.getByText("1 of 1").waitFor();
      await page.getByRole("region", { name: "Changes to src/part7/f42.ts" }).getByText("7 42").waitFor();
      // All lines are counted in the end.
      await page.locator(".chg-sum").getByRole("img", { name: "5,000 lines added" }).waitFor();
      await page.getByText("counting…").waitFor({ state: "detached" });
    },
  },
];
