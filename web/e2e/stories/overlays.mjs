// What lies over the page: every dialog, menu and popover, looked at by axe while it is open.
import assert from "node:assert/strict";
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
      await looked("agents' filter", () => button("Filter by agent").click(), page.getByRole("menu", { name: "Filter by agent" }));
      await looked("isolation", () => button(/guards in force/).click(), page.getByRole("dialog", { name: "Isolation of this session" }));
      await looked("palette", () => page.keyboard.press("Control+k"), page.getByRole("combobox"));
      await looked("fork", () => choose("Session menu", /^Fork from/), page.getByRole("dialog", { name: "Fork" }));
      await looked("delete", () => choose("Session menu", /^Delete/), page.getByRole("dialog", { name: /^Delete/ }));
      await page.getByRole("tab", { name: /^Versions/ }).click();
      await page.getByRole("button", { name: /^Version 1:/ }).click();
      await looked("restore", () => button("Restore").click(), page.getByRole("dialog", { name: /^Go back/ }));
      await page.goto(`${person.base}/settings`);
      await looked("new token", () => button("New token").click(), page.getByRole("dialog"));
      await looked("new profile", () => button("New profile").click(), page.getByRole("dialog"));
    },
  },
];
