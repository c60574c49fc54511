import assert from "node:assert/strict";
import { faults } from "../axe.mjs";

/** What each tab shows of a session that wrote notes.md into outputs/. */
const SEEN = {
  Artifacts: (panel) => panel.getByRole("tab", { name: /notes\.md/ }),
  Files: (panel) => panel.getByRole("treeitem", { name: /outputs/ }),
  Versions: (panel) => panel.getByRole("button", { name: /^Version 1:/ }),
  Activity: (panel) => panel.getByText("Run completed").first(),
};

/** Whether a person could really see it: drawn, inside the window, and nothing lies over it. */
async function isOnTop(page, locator) {
  await locator.waitFor();
  const box = await locator.boundingBox();
  const { width, height } = page.viewportSize();
  assert.ok(box.x >= 0 && box.x < width && box.y >= 0 && box.y < height, `it stands at ${JSON.stringify(box)}`);
  return locator.evaluate((one) => {
    const { x, y, width, height } = one.getBoundingClientRect();
    const top = document.elementFromPoint(x + Math.min(width, 60) / 2, y + height / 2);
    return one.contains(top) || (top?.contains(one) ?? false);
  });
}

const sideways = (page) => page.evaluate(() => document.documentElement.scrollWidth - innerWidth);

async function made(visit, options) {
  const person = await visit(options);
  await person.start("run: mkdir -p outputs && echo '# Notes' > outputs/notes.md");
  await person.idle();
  return person;
}

export const STORIES = [
  {
    name: "at 360 px the bar at the bottom opens each tab as a page, and the chat again",
    async tell({ visit }) {
      const person = await made(visit, { width: 360, height: 740 });
      const { page } = person;
      const bar = page.getByRole("navigation", { name: "Views" });
      const panel = page.getByRole("complementary", { name: "Panel" });
      assert.equal(await panel.count(), 0);
      for (const name of ["Artifacts", "Files", "Versions"]) {
        await bar.getByRole("button", { name }).click();
        assert.equal(await isOnTop(page, SEEN[name](panel)), true, name);
        assert.equal(await bar.getByRole("button", { name }).getAttribute("aria-current"), "page");
        assert.equal(await sideways(page), 0, name);
        assert.deepEqual(await faults(page), [], name);
      }
      await panel.getByRole("tab", { name: "Activity" }).click();
      assert.equal(await isOnTop(page, SEEN.Activity(panel)), true);
      await page.goBack();
      assert.equal(await isOnTop(page, SEEN.Versions(panel)), true);
      await bar.getByRole("button", { name: "Chat" }).click();
      await panel.waitFor({ state: "detached" });
      assert.equal(await isOnTop(page, page.getByLabel("Message", { exact: true })), true);
    },
  },
  {
    name: "at 1100 px the panel slides over the conversation, shows each tab, and goes away",
    async tell({ visit }) {
      const person = await made(visit, { width: 1100, height: 800 });
      const { page } = person;
      const panel = page.getByRole("complementary", { name: "Panel" });
      assert.equal(await panel.count(), 0);
      await page.getByRole("button", { name: "Show panel" }).click();
      for (const name of ["Artifacts", "Files", "Versions", "Activity"]) {
        await panel.getByRole("tab", { name: new RegExp(`^${name}`) }).click();
        assert.equal(await isOnTop(page, SEEN[name](panel)), true, name);
        assert.deepEqual(await faults(page), [], name);
      }
      await panel.getByRole("button", { name: "Close the panel" }).click();
      await panel.waitFor({ state: "detached" });
      await page.keyboard.press("Control+.");
      await panel.waitFor();
      await page.keyboard.press("Control+.");
      await panel.waitFor({ state: "detached" });
    },
  },
];
