// What lies over the page: every dialog, menu and popover, looked at by axe while it is open.
import assert from "node:assert/strict";
import { join } from "node:path";
import { faults } from "../axe.mjs";

export const STORIES = [
  {
    name: "dialogs, menus and popovers have no serious fault, and Escape closes each",
    async tell({ visit }) {
      const person = await visit();
      const { page } = person;
      await person.start("create file notes.md with a haiku");
      await person.idle();
      await person.send("run: echo more >> notes.md");
      await person.sees("Saved v2");
      const button = (name) => page.getByRole("button", { name });
      const choose = async (menu, item) => {
        await button(menu).click();
        await page.getByRole("menuitem", { name: item }).click();
      };
      const looked = async (name, open, seen) => {
        await open();
        await seen.waitFor();
        assert.deepEqual(await faults(page), [], name);
        await page.keyboard.press("Escape");
        await seen.waitFor({ state: "detached" });
      };
      await looked("session menu", () => button("Session menu").click(), page.getByRole("menu", { name: "Session menu" }));
      await looked("agents' filter", () => button("More filters").click(), page.getByRole("menu", { name: "More filters" }));
      await looked("isolation", () => button(/guards in force/).click(), page.getByRole("dialog", { name: "Isolation of this session" }));
      await looked("palette", () => page.keyboard.press("Control+k"), page.getByRole("combobox"));
      await looked("fork", () => choose("Session menu", /^Fork from/), page.getByRole("dialog", { name: "Fork" }));
      await looked("delete", () => choose("Session menu", /^Delete/), page.getByRole("dialog", { name: /^Delete/ }));
      await page.getByRole("tab", { name: /^Versions/ }).click();
      await page.getByRole("button", { name: /^Version 1:/ }).click();
      await looked("restore", () => button("Restore").click(), page.getByRole("dialog", { name: /^Restore v1/ }));
      await page.goto(`${person.base}/settings`);
      await looked("new token", () => button("New token").click(), page.getByRole("dialog"));
      await looked("new profile", () => button("New profile").click(), page.getByRole("dialog"));
    },
  },
  {
    name: "news of another session stands above the message, waits under the pointer, and goes with Escape",
    async tell({ server, visit, pictures }) {
      const person = await visit();
      const { page } = person;
      await person.start("count to 3");
      await person.idle();
      const asks = async (name) => {
        const { sessionId } = await server.api("/api/sessions", { method: "POST", body: { name, options: { permissionMode: "ask" } } });
        await server.api(`/api/sessions/${sessionId}/messages`, { method: "POST", body: { content: "run: echo asked", idempotencyKey: crypto.randomUUID() } });
        return sessionId;
      };
      const card = (name) => page.locator(".toast").filter({ hasText: `${name} needs you` });
      const overlap = async () => {
        const [news, field] = [await page.locator(".toast").last().boundingBox(), await page.locator(".comp").boundingBox()];
        return news.x < field.x + field.width && field.x < news.x + news.width && news.y < field.y + field.height && field.y < news.y + news.height;
      };
      await asks("Invoices");
      await page.getByRole("alert").filter({ hasText: "Invoices needs you" }).waitFor();
      // Under the pointer it stays longer than it would.
      await card("Invoices").hover();
      assert.deepEqual(await faults(page), []);
      if (pictures) await page.screenshot({ path: join(pictures, "toast.png") });
      await page.waitForTimeout(7_000);
      assert.equal(await card("Invoices").count(), 1);
      // Wide, without the panel beside, and narrow: never over where somebody writes.
      for (const width of [1440, 1000, 390]) {
        await page.setViewportSize({ width, height: 844 });
        await page.mouse.move(5, 5);
        await page.keyboard.press("Escape");
        await asks(`At ${width}`);
        await card(`At ${width}`).hover();
        assert.equal(await overlap(), false, `at ${width}`);
        if (pictures) await page.screenshot({ path: join(pictures, `toast-${width}.png`) });
      }
      await page.locator("#msg").focus();
      await page.keyboard.press("Escape");
      await page.locator(".toast").first().waitFor({ state: "detached" });
      // The way to it.
      await page.setViewportSize({ width: 1440, height: 900 });
      const id = await asks("Migration");
      await card("Migration").getByRole("button", { name: "Open" }).click();
      await page.waitForURL(new RegExp(id));
      assert.equal(await page.locator(".toast").count(), 0);
      // What waits to be allowed is not shown as done.
      await page.getByRole("group", { name: "Approval request" }).waitFor();
      assert.equal(await person.log().locator(".node use[href='#i-check']").count(), 0);
      // What waited before somebody came is no news.
      await page.goto(`${person.base}/`);
      await page.getByRole("navigation", { name: "Session list" }).getByText(/^Asks:/).first().waitFor();
      await page.waitForTimeout(1_000);
      assert.equal(await page.locator(".toast").count(), 0);
    },
  },
];
