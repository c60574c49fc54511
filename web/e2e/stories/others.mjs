import assert from "node:assert/strict";
import { faults } from "../axe.mjs";

/**
 * What somebody may press who only reads: to go elsewhere, to look closer, to look otherwise. Whatever is in no list of
 * these is a control that they must not have.
 */
const READS = [
  /^(Skip to|Warren|Command palette|Search|Clear search|Load earlier messages|More filters|Filter|Board$|Export as|Find in|System$|Follow live|All$|Running( \d+)?$|Needs you( \d+)?$|Overview|Settings|Switch to|Theme|Light$|Dark$|Signed in as|Sign out|Sessions$|Close|Copy|Session menu|Show|Hide|guards)/,
  /guards in force|^bubblewrap|ready$|^Session |Doctor/i,
  /^(Artifacts|Files|Versions|Activity)/,
  /^(Diff of v|Diff$|Version \d|Compare|v\d|Preview$|Code$|Reload$|Phone size|Full screen|Download|Open |Whitespace|From version|To version|Conversation$|Files$|Filter changed|Previous file|Next file|Wrap$|Side by side|[\d,]+ unchanged line)/,
  /^(Since v\d|24 h|14 days|90 days|Export|As a table|Check again)/,
];

/** Names of all that can be pressed or written into now, except rows that lead to a session, a file or a block. */
const controls = (page) => page.evaluate(() => [...document.querySelectorAll("button, a[href], input, select, textarea, [role=button], [role=menuitem], [role=tab]")]
  .filter((one) => !one.disabled && one.checkVisibility() && !one.closest("[role=log] details, .shelf, [role=tree], a.ses, .made, iframe, td a, [role=tablist]"))
  .map((one) => (one.getAttribute("aria-label") ?? one.labels?.[0]?.textContent ?? one.textContent ?? "").trim()));

async function onlyReads(page, where) {
  const found = (await controls(page)).filter((name) => !READS.some((reads) => reads.test(name)));
  assert.deepEqual([...new Set(found)], [], where);
}

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
      await guest.page.getByText("You have read-only access.").waitFor();
      assert.equal(await guest.page.getByRole("button", { name: /^(Send|Stop|New session)$/ }).count(), 0);
      const status = await guest.page.evaluate(async (path) => (await fetch(path, { method: "POST", headers: { "content-type": "application/json", "x-warren-csrf": document.cookie.split("warren_csrf=")[1]?.split(";")[0] ?? "" }, body: JSON.stringify({ content: "no" }) })).status, `/api/sessions/${id}/messages`);
      assert.equal(status, 403);
      await person.page.getByRole("button", { name: "Stop" }).click();
      await guest.sees("Work up to this point is saved");
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
      const none = async (where) => assert.equal(await page.getByRole("button", { name: /^(Edit|Upload|Restore|Fork|Replay|Name|Rename|Label|Edit label|Save|Allow|Deny|Send|Stop|New session|Wake|Start the sandbox)/ }).count(), 0, where);
      await page.goto(`${guest.base}/sessions/${id}?tab=files`);
      await page.getByRole("treeitem", { name: /notes\.md/ }).click();
      await page.getByRole("region", { name: "notes.md" }).getByText("more").waitFor();
      await none("files");
      await page.getByRole("tab", { name: /^Versions/ }).click();
      await page.getByRole("button", { name: /^Version 1:/ }).click();
      await page.getByRole("region", { name: "Changes to notes.md" }).waitFor();
      await none("versions");
      await page.getByRole("button", { name: "Session menu" }).click();
      assert.deepEqual(await page.getByRole("menuitem").allInnerTexts(), ["Find in conversation", "Copy link", "Export as Markdown", "Export as JSON"]);
      await page.keyboard.press("Escape");
      await page.goto(`${guest.base}/settings`);
      await page.locator(".skel").first().waitFor({ state: "detached" });
      assert.equal(await page.getByRole("button", { name: /^(New token|Revoke|New profile)/ }).count(), 0);
    },
  },
  {
    name: "who may only read sees each part change as somebody works in it, and has no control there that changes anything",
    async tell({ server, visit }) {
      const token = await server.grant("Reader", "admin:ro");
      const person = await visit();
      const guest = await visit({ token });
      const { page } = guest;
      const panel = page.getByRole("complementary", { name: "Panel" });
      const id = await person.start("run: mkdir -p outputs && echo '# Notes' > outputs/notes.md", { name: "Watched" });
      await person.idle();
      // The list, and the name in it.
      await page.getByRole("navigation", { name: "Session list" }).getByRole("link", { name: /Watched/ }).click();
      await onlyReads(page, "artifacts");
      await panel.getByRole("tab", { name: /notes\.md/ }).waitFor();
      // Artifacts: a new one appears, a known one changes.
      await person.send("run: echo '# Other' > outputs/other.md; echo 'and more' >> outputs/notes.md");
      await person.sees("Saved v2");
      await guest.sees("Saved v2");
      await panel.getByRole("tab", { name: /other\.md/ }).waitFor();
      await panel.getByRole("tab", { name: /notes\.md/ }).click();
      await panel.getByText("and more").waitFor();
      await onlyReads(page, "artifacts, later");
      // Files: what somebody edits by hand is there at once.
      await panel.getByRole("tab", { name: /^Files/ }).click();
      await panel.getByRole("treeitem", { name: /outputs/ }).waitFor();
      await server.put(id, "by-hand.txt", "written by hand\n");
      await panel.getByRole("treeitem", { name: /by-hand\.txt/ }).click();
      await panel.getByText("written by hand").waitFor();
      await onlyReads(page, "files");
      // Versions: a label, a restore, a replay.
      await panel.getByRole("tab", { name: /^Versions/ }).click();
      await panel.getByRole("button", { name: /^Version 2:/ }).waitFor();
      await server.api(`/api/sessions/${id}/restore`, { method: "POST", body: { version: 1 } });
      await panel.getByRole("button", { name: /^Version 3:/ }).waitFor();
      await onlyReads(page, "versions");
      await panel.getByRole("tab", { name: "Activity" }).click();
      await panel.getByText("Version saved").first().waitFor();
      await onlyReads(page, "activity");
      // A name changes under their eyes.
      await server.api(`/api/sessions/${id}`, { method: "PATCH", body: { name: "Another name" } });
      await page.getByRole("heading", { name: "Another name" }).waitFor();
      await page.getByRole("navigation", { name: "Session list" }).getByText("Another name").waitFor();
      // The palette and the keys offer nothing more.
      await page.keyboard.press("Control+k");
      await page.getByRole("combobox").waitFor();
      assert.deepEqual((await page.getByRole("option").allInnerTexts()).filter((name) => /New session|Fork|Rename|Delete|Stop/.test(name)), []);
      await page.keyboard.press("Escape");
      await page.keyboard.press("Shift+F");
      await page.getByRole("link", { name: /Another name/ }).press("F2");
      await page.getByRole("link", { name: /Another name/ }).press("Delete");
      assert.equal(await page.getByRole("dialog").count(), 0);
      assert.equal(await page.getByLabel("Session name").count(), 0);
      for (const path of ["/", "/overview", "/doctor", "/settings"]) {
        await page.goto(guest.base + path);
        await page.locator("main h1").first().waitFor();
        await page.locator(".skel").first().waitFor({ state: "detached" });
        await onlyReads(page, path);
      }
      assert.deepEqual(await faults(page), []);
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
