import assert from "node:assert/strict";
import { join } from "node:path";
import { faults } from "../axe.mjs";

/** Where a row stands in the view, and how far the view is scrolled. */
const placeOf = (page, key) => page.evaluate((wanted) => {
  const box = document.querySelector("section.chat .scroll");
  const row = box.querySelector(`[data-key="${CSS.escape(wanted)}"]`);
  return row && Math.round(row.getBoundingClientRect().top - box.getBoundingClientRect().top);
}, key);

/** Waits until the view stands still: the browser scrolls on after a turn of the wheel was sent. */
const settled = (page) => page.evaluate(() => new Promise((done) => {
  const box = document.querySelector("section.chat .scroll");
  let [at, still] = [box.scrollTop, 0];
  const look = () => {
    still = box.scrollTop === at ? still + 1 : 0;
    at = box.scrollTop;
    if (still < 30) requestAnimationFrame(look);
    else done();
  };
  look();
}));

/** The first row that is wholly in view. */
const firstInView = (page) => page.evaluate(() => {
  const box = document.querySelector("section.chat .scroll");
  const edge = box.getBoundingClientRect().top;
  return [...box.querySelectorAll("[role=log] > [data-key]")].find((row) => row.getBoundingClientRect().top >= edge)?.dataset.key;
});

/** A session whose conversation is several pages long; each call answers with its own number. */
async function longSession(person) {
  const id = await person.start("run 80 times: date +%N");
  await person.idle();
  const { blocks } = await person.server.api(`/api/sessions/${id}`);
  assert.ok(blocks.length > 150, `${blocks.length} blocks`);
  return { id, blocks };
}

export const STORIES = [
  {
    name: "a long conversation opens with its newest page, and earlier messages load as somebody scrolls up, each once and in order",
    async tell({ visit, pictures }) {
      const person = await visit();
      const { page } = person;
      const { id, blocks } = await longSession(person);
      const pages = [];
      page.on("request", (request) => {
        const { pathname, search } = new URL(request.url());
        if (pathname === `/api/sessions/${id}` || pathname.endsWith("/messages")) pages.push(search);
      });
      await page.reload();
      await person.log().locator("[data-key]").first().waitFor();
      await page.getByRole("button", { name: "Load earlier messages" }).waitFor({ state: "attached" });
      assert.deepEqual(pages, ["?limit=50"], "opening reads one page");

      // The first answer is held back, so that its state can be seen.
      let release;
      const held = new Promise((done) => (release = done));
      await page.route("**/messages?*before=*", async (route) => {
        await held;
        await route.continue();
      });
      await page.locator("section.chat .scroll").hover();
      while ((await page.getByText("Loading earlier messages…").count()) === 0) await page.mouse.wheel(0, -300);
      await settled(page);
      const key = await firstInView(page);
      const before = await placeOf(page, key);
      assert.deepEqual(await faults(page), []);
      if (pictures) await page.screenshot({ path: join(pictures, "earlier.png") });
      release();
      await page.waitForFunction((known) => document.querySelector("[role=log] [data-key]")?.dataset.key !== known, key);
      await page.getByText("Loading earlier messages…").waitFor({ state: "detached" });
      const after = await placeOf(page, key);
      assert.ok(Math.abs(after - before) <= 2, `the row that was read moved from ${before} to ${after}`);
      await page.unroute("**/messages?*before=*");

      const calls = (await person.allKeys("tool")).concat(await person.allKeys("reads"));
      const used = blocks.filter((block) => block.type === "tool_use").map((block) => block.id);
      assert.deepEqual(calls, used);
      assert.equal(await page.locator(".earlier").count(), 0);
    },
  },
  {
    name: "earlier messages that cannot be loaded say so, and load by keyboard when they can",
    async tell({ visit, pictures }) {
      const person = await visit();
      const { page } = person;
      const { blocks } = await longSession(person);
      await page.reload();
      await person.log().locator("[data-key]").first().waitFor();
      await page.route("**/messages?*before=*", (route) => route.abort());
      const box = page.locator("section.chat .scroll");
      await box.focus();
      await page.keyboard.press("Home");
      const retry = page.getByRole("button", { name: "Retry" });
      await page.getByText("Earlier messages cannot be loaded", { exact: false }).waitFor();
      assert.deepEqual(await faults(page), []);
      if (pictures) await page.screenshot({ path: join(pictures, "earlier-failed.png") });
      await page.unroute("**/messages?*before=*");
      await retry.focus();
      await page.keyboard.press("Enter");
      await retry.waitFor({ state: "detached" });
      // To the very beginning, by the key that leads there.
      await box.focus();
      while ((await page.locator(".earlier").count()) > 0) await page.keyboard.press("Home");
      await page.keyboard.press("Home");
      await page.locator(`[role=log] [data-kind=user]`).first().waitFor();
      assert.deepEqual((await person.allKeys("tool")).length, blocks.filter((block) => block.type === "tool_use").length);
    },
  },
  {
    name: "what an agent says while older messages load is shown once",
    async tell({ server, visit }) {
      const person = await visit();
      const { page } = person;
      const { id } = await longSession(person);
      await page.reload();
      await person.log().locator("[data-key]").first().waitFor();
      await person.send("count to 300");
      await person.running();
      const box = page.locator("section.chat .scroll");
      await box.focus();
      while ((await page.locator(".earlier").count()) > 0) await page.keyboard.press("Home");
      await person.idle();
      const { blocks } = await server.api(`/api/sessions/${id}`);
      const said = blocks.filter((block) => block.type === "assistant_text" && block.content).map((block) => block.id);
      assert.deepEqual(await person.allKeys("text"), said);
    },
  },
];
