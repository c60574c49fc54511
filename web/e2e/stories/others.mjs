import assert from "node:assert/strict";
import { faults } from "../axe.mjs";

export const STORIES = [
  {
    name: "a second tab sees the same, live",
    async tell({ visit }) {
      const person = await visit();
      const id = await person.start("count to 9000");
      await person.running();
      const second = await person.tab(`/sessions/${id}`);
      await second.sees("1 2 3 4 5");
      await second.send("list the files");
      await person.page.getByRole("group", { name: "Queued message" }).getByText("list the files").waitFor();
      await person.page.getByRole("button", { name: "Remove queued message" }).click();
      await second.page.getByRole("group", { name: "Queued message" }).waitFor({ state: "detached" });
      await person.page.getByRole("button", { name: "Stop" }).click();
      await person.idle();
      await second.idle();
      // A message keeps the key it was sent under where it was sent; all else is the same.
      const same = async (one) => (await one.allKeys()).slice(1);
      assert.deepEqual(await same(second), await same(person));
      assert.deepEqual(await second.page.locator("[data-kind=user]").allInnerTexts(), await person.page.locator("[data-kind=user]").allInnerTexts());
    },
  },
  {
    name: "who may only read sees everything live and can do nothing",
    async tell({ server, visit }) {
      const reader = await server.api("/api/tokens", { method: "POST", body: { name: "Reader", scope: "admin:ro" } });
      const person = await visit();
      const id = await person.start("count to 9000");
      await person.running();
      const guest = await visit({ token: reader.secret });
      await guest.page.goto(`${guest.base}/sessions/${id}`);
      await guest.sees("1 2 3 4 5");
      await guest.page.getByText("This link is for reading only.").waitFor();
      assert.equal(await guest.page.getByRole("button", { name: /^(Send|Stop|New session)$/ }).count(), 0);
      const status = await guest.page.evaluate(async (path) => (await fetch(path, { method: "POST", headers: { "content-type": "application/json", "x-warren-csrf": document.cookie.split("warren_csrf=")[1]?.split(";")[0] ?? "" }, body: JSON.stringify({ content: "no" }) })).status, `/api/sessions/${id}/messages`);
      assert.equal(status, 403);
      await person.page.getByRole("button", { name: "Stop" }).click();
      await guest.sees("What it did until then is kept");
      assert.deepEqual(await faults(guest.page), []);
    },
  },
  {
    name: "who may only read finds no way to change files, versions or the session",
    async tell({ server, visit }) {
      const reader = await server.api("/api/tokens", { method: "POST", body: { name: "Reader", scope: "admin:ro" } });
      const person = await visit();
      const id = await person.start("create file notes.md with a haiku");
      await person.idle();
      await person.send("run: echo more >> notes.md");
      await person.sees("Saved v2");
      const guest = await visit({ token: reader.secret });
      const { page } = guest;
      const none = async (where) => assert.equal(await page.getByRole("button", { name: /^(Edit|Upload|Restore|Fork|Replay|Name|Rename|Save|Allow|Deny|Send|Stop|New session|Wake)/ }).count(), 0, where);
      await page.goto(`${guest.base}/sessions/${id}?tab=files`);
      await page.getByRole("treeitem", { name: /notes\.md/ }).click();
      await page.getByRole("region", { name: "notes.md" }).getByText("more").waitFor();
      await none("files");
      await page.getByRole("tab", { name: /^Versions/ }).click();
      await page.getByRole("button", { name: /^Version 1:/ }).click();
      await page.getByRole("region", { name: "Changes to notes.md" }).waitFor();
      await none("versions");
      await page.getByRole("button", { name: "Session menu" }).click();
      assert.deepEqual(await page.getByRole("menuitem").allInnerTexts(), ["Copy link"]);
      await page.keyboard.press("Escape");
      await page.goto(`${guest.base}/settings`);
      await page.locator(".skel").first().waitFor({ state: "detached" });
      assert.equal(await page.getByRole("button", { name: /^(New token|Revoke|New profile)/ }).count(), 0);
    },
  },
  {
    name: "a narrow screen shows everything without scrolling sideways",
    async tell({ visit }) {
      const person = await visit({ width: 360, height: 740, theme: "dark" });
      const { page } = person;
      await person.start("show me a failing tool");
      await person.idle();
      const wide = () => page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      assert.equal(await wide(), 0);
      await page.getByRole("button", { name: "Sessions", exact: true }).click();
      await page.getByRole("navigation", { name: "Session list" }).getByRole("link").first().click();
      assert.equal(await wide(), 0);
      assert.deepEqual(await faults(page), []);
      await page.getByRole("navigation", { name: "Views" }).getByRole("button", { name: "Chat" }).waitFor();
    },
  },
];
