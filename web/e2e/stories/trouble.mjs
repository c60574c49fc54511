import assert from "node:assert/strict";
import { Wire } from "../server.mjs";

/** All the numbers a counting agent said, in order, as the page shows them. */
const counted = (person) =>
  person.page.evaluate(() => [...document.querySelectorAll("[role=log] [data-kind=text] .say, [role=log] [data-kind=text].say, [role=log] [data-kind=text]")].at(-1)?.textContent.trim() ?? "");

/** The text that the server keeps of the last answer. */
async function kept(server, id) {
  const { blocks } = await server.api(`/api/sessions/${id}`);
  return blocks.findLast((block) => block.type === "assistant_text").content.trim();
}

/** Things that carry a script, each as its kind would. */
const SCRIPT = "<script>top.pwned=1;window.pwned=1</script><img src=x onerror=window.pwned=1>";
const HOSTILE = [
  "run: mkdir -p outputs && cd outputs",
  `echo '# Title ${SCRIPT} [link](javascript:window.pwned=1)' > evil.md`,
  `echo 'name,${SCRIPT}' > evil.csv && echo '=cmd,<b>bold</b>' >> evil.csv`,
  `echo '<svg xmlns="http://www.w3.org/2000/svg" width="40" height="40" onload="top.pwned=1"><script>top.pwned=1</script><rect width="40" height="40"/></svg>' > evil.svg`,
  `echo '<!doctype html><p>own host</p><script>try { top.pwned = 1 } catch { document.body.dataset.refused = 1 }</script>' > evil.html`,
  "echo hi > '<img src=x onerror=window.pwned=1>.md'",
].join(" && ");

export const STORIES = [
  {
    name: "artifacts that carry script, and hostile names of files, are shown as what they are and run nothing here",
    async tell({ visit }) {
      const person = await visit();
      const { page } = person;
      await person.start(HOSTILE);
      await person.idle();
      const shelf = page.getByRole("tablist", { name: "Artifacts of this session" });
      const panel = page.getByRole("complementary", { name: "Panel" });
      await shelf.getByRole("tab", { name: /evil\.csv/ }).click();
      await panel.getByText("<script>top.pwned=1", { exact: false }).first().waitFor();
      await panel.getByText("<b>bold</b>").waitFor();
      await shelf.getByRole("tab", { name: /evil\.md/ }).click();
      await panel.getByRole("heading", { name: "Title <img src=x onerror=" }).waitFor();
      assert.equal(await panel.locator("script").count(), 0);
      assert.equal(await panel.locator("a[href^='javascript:']").count(), 0);
      await shelf.getByRole("tab", { name: /evil\.svg/ }).click();
      await panel.locator("img[src^='blob:']").waitFor();
      await shelf.getByRole("tab", { name: /evil\.html/ }).click();
      await page.locator("iframe.preview").contentFrame().locator("body[data-refused]").waitFor();
      await shelf.getByRole("tab", { name: "<img src=x onerror" }).waitFor();
      await panel.getByRole("tab", { name: /^Files/ }).click();
      const folder = panel.getByRole("treeitem", { name: "outputs", exact: false }).first();
      if ((await folder.getAttribute("aria-expanded")) !== "true") await folder.click();
      await panel.getByRole("treeitem", { name: /<img src=x onerror/ }).waitFor();
      assert.equal(await page.evaluate(() => "pwned" in window), false);
      assert.equal(await page.locator("img[src=x]").count(), 0);
    },
  },

  {
    name: "the network is cut in the middle: the page says so, comes back by itself, and nothing is lost or doubled",
    async tell({ server, visit }) {
      const wire = await Wire.to(server);
      try {
        const person = await visit({ base: wire.url });
        const { page } = person;
        const id = await person.start("count to 400");
        await person.sees("1 2 3 4 5");
        wire.cut();
        await page.getByText("Connection lost. Retrying", { exact: false }).waitFor();
        await server.api(`/api/sessions/${id}`);
        wire.mend();
        await page.getByRole("button", { name: "Retry now" }).click().catch(() => {});
        await person.idle();
        await person.sees("400");
        assert.equal(await counted(person), await kept(server, id));
        assert.equal(await person.page.locator("[data-kind=user]").count(), 1);
      } finally {
        wire.end();
      }
    },
  },
  {
    name: "a message written while the network is away is sent again by hand, once",
    async tell({ server, visit }) {
      const wire = await Wire.to(server);
      try {
        const person = await visit({ base: wire.url });
        const id = await person.start("count to 3");
        await person.idle();
        wire.cut();
        await person.send("count to 7");
        await person.page.getByText("Not sent:", { exact: false }).waitFor();
        wire.mend();
        await person.page.getByRole("button", { name: "Send again" }).click();
        await person.sees("1 2 3 4 5 6 7");
        await person.idle();
        const { runs } = await server.api(`/api/sessions/${id}/runs`);
        assert.equal(runs.length, 2);
        assert.equal(await person.page.locator("[data-kind=user]").count(), 2);
      } finally {
        wire.end();
      }
    },
  },
  {
    name: "the server is killed in the middle and started again: the page goes on from where it was",
    async tell({ server, visit }) {
      const person = await visit();
      const { page } = person;
      const id = await person.start("count to 2000");
      await person.sees("1 2 3 4 5");
      await server.kill();
      await page.getByText("Connection lost. Retrying", { exact: false }).waitFor();
      await server.begin();
      await page.getByText("Connection lost", { exact: false }).waitFor({ state: "detached" });
      await person.idle();
      assert.equal(await counted(person), await kept(server, id));
      await person.send("count to 5");
      await person.sees("1 2 3 4 5");
      await person.idle();
      const { blocks } = await server.api(`/api/sessions/${id}`);
      assert.equal(await page.locator("[data-kind=user]").count(), blocks.filter((block) => block.type === "user_message").length);
    },
  },
  {
    name: "output that carries script, colours, control characters and a huge line is shown as text",
    async tell({ visit }) {
      const person = await visit();
      const { page } = person;
      const script = "<img src=x onerror=window.pwned=1><script>window.pwned=1</script>";
      await person.start(`run: printf '\\033[31m${script}\\033[0m\\007\\r\\n'; printf 'x%.0s' $(seq 5000); touch '<img src=x onerror=window.pwned=1>.md'; exit 3`, { name: `<b>${script}</b>` });
      await person.idle();
      const output = page.locator("pre.out", { hasText: "window.pwned=1" }).last();
      await output.getByText(script, { exact: false }).waitFor();
      await output.getByText("^G", { exact: false }).waitFor();
      await page.getByRole("button", { name: /Show whole line/ }).click();
      await page.getByText("exit 3", { exact: true }).waitFor();
      assert.equal(await page.evaluate(() => "pwned" in window), false);
      assert.equal(await page.locator("main img[src=x], aside img[src=x]").count(), 0);
    },
  },
];
