import assert from "node:assert/strict";
import { join } from "node:path";
import { faults } from "../axe.mjs";
import { portraits } from "../portraits.mjs";

export const STORIES = [
  {
    name: "the built-in agent builds a dashboard, step by step, and its subagent can be read",
    async tell({ server, visit, pictures }) {
      const person = await visit();
      const { page } = person;
      assert.deepEqual(await faults(page), []);
      const id = await person.start("Build me a dashboard of our sales");
      await person.sees("Here's the plan:");
      await person.idle();
      await person.sees("strongest region");
      const log = person.log();
      await log.getByRole("region", { name: /Changes to outputs\/dashboard\/index.html/ }).waitFor();
      await log.getByText("4 of 4").waitFor();
      // The page is shown, not its data, and as the agent left it: nobody has to reload it.
      await page.locator("iframe.preview").waitFor();
      await page.getByRole("tab", { name: /index\.html/, selected: true }).waitFor();
      assert.equal(await page.locator(".stale").count(), 0);
      // One width for all tabs.
      const widths = [];
      for (const name of ["Files", "Versions", "Activity", "Artifacts"]) {
        await page.getByRole("tab", { name: new RegExp(`^${name}`) }).click();
        widths.push((await page.locator(".panel").boundingBox()).width);
      }
      assert.equal(new Set(widths).size, 1, String(widths));
      await log.locator("table").getByText("$1,999,418").waitFor();
      if (pictures) await page.screenshot({ path: join(pictures, "chat.png") });
      // Its thread, in place and beside.
      const card = log.locator("details.subag");
      await card.locator("summary").click();
      await card.getByText("One finding", { exact: false }).first().waitFor();
      await log.getByRole("button", { name: /^Open .* beside$/ }).click();
      const thread = page.getByRole("complementary", { name: /^Thread of/ });
      await thread.getByText("does not say its unit", { exact: false }).waitFor();
      if (pictures) await page.screenshot({ path: join(pictures, "subagent.png") });
      await thread.getByRole("button", { name: "Close the thread" }).click();
      assert.deepEqual(await faults(page), []);
      // What the page shows is what is kept: nothing lost, nothing doubled.
      const kept = await server.api(`/api/sessions/${id}`);
      const shown = await person.allKeys();
      const own = kept.blocks.filter((block) => block.type === "user_message" || block.type === "assistant_text");
      assert.equal(own.filter((block) => block.type === "assistant_text").every((block) => shown.includes(block.id)), true);
      assert.equal(new Set(shown).size, shown.length);
      if (pictures) await portraits(person, pictures);
    },
  },
  {
    name: "a message queues behind a run, is reworded and taken back, and the run is stopped twice in two ways",
    async tell({ visit }) {
      const person = await visit();
      const { page } = person;
      await person.start("count to 9000");
      await person.sees("1 2 3 4 5");
      await person.send("list the files");
      const strip = page.getByRole("group", { name: "Queued message" });
      await strip.getByText("list the files").waitFor();
      await strip.getByRole("button", { name: "Edit queued message" }).click();
      await page.getByRole("textbox", { name: "Queued message" }).fill("count to 8000");
      await page.getByRole("button", { name: "Save" }).click();
      await strip.getByText("count to 8000").waitFor();
      await page.getByRole("button", { name: "Stop" }).click();
      await person.sees("Work up to this point is saved");
      // Stop stops: the queued message waits for the person, also after a reload.
      const held = page.getByRole("group", { name: "Queue held" });
      await held.waitFor();
      await page.reload();
      await held.waitFor();
      await page.locator(".top .state.idle").waitFor();
      assert.deepEqual(await faults(page), []);
      await held.getByRole("button", { name: "Resume queue" }).click();
      await person.log().getByText("count to 8000").waitFor();
      await person.running();
      await held.waitFor({ state: "detached" });
      await person.send("list the files");
      await strip.getByRole("button", { name: "Remove queued message" }).click();
      await strip.waitFor({ state: "detached" });
      // The first Escape says what the second does, and leaves the focus where it is.
      await page.locator("#msg").focus();
      await page.keyboard.press("Escape");
      await page.getByText("again to stop").waitFor();
      assert.equal(await page.evaluate(() => document.activeElement.id), "msg");
      await page.keyboard.press("Escape");
      await person.idle();
      // Earlier prompts come back with Up; the last one first.
      await page.locator("#msg").focus();
      await page.keyboard.press("ArrowUp");
      assert.equal(await page.locator("#msg").inputValue(), "count to 8000");
      await page.keyboard.press("ArrowUp");
      assert.equal(await page.locator("#msg").inputValue(), "count to 9000");
      await page.locator("#msg").fill("");
      // Commands and search.
      await page.keyboard.type("/fi");
      await page.getByRole("option", { name: /find/ }).waitFor();
      await page.keyboard.press("Enter");
      await page.getByLabel("Find in conversation").fill("COUNT TO 8000");
      await page.getByText("1 of 1").waitFor();
      await page.locator(".found-row").getByText("count to 8000").waitFor();
      assert.deepEqual(await faults(page), []);
      await page.keyboard.press("Escape");
      // A message that was sent is edited and sent again.
      await page.getByRole("button", { name: "Edit message" }).first().click();
      await page.getByRole("group", { name: "Editing a message" }).waitFor();
      await page.locator("#msg").fill("run: echo edited");
      await page.keyboard.press("Enter");
      await person.idle();
      await person.sees("edited");
    },
  },
  {
    name: "messages that wait are put in another order by buttons, keys and dragging, everywhere and for good",
    async tell({ server, visit }) {
      const person = await visit();
      const { page } = person;
      const id = await person.start("count to 9000");
      await person.sees("1 2 3 4 5");
      const strip = page.getByRole("group", { name: "Queued message" });
      for (const text of ["first", "second", "third"]) {
        await person.send(`run: echo ${text}`);
        await strip.filter({ hasText: text }).waitFor();
      }
      const order = async (one, expected) => {
        await one.page.waitForFunction((wanted) => [...document.querySelectorAll(".queued .cut")].map((row) => row.textContent.split(" ").at(-1)).join() === wanted, expected.join());
        const { queue } = await server.api(`/api/sessions/${id}`);
        const { runs } = await server.api(`/api/sessions/${id}/runs`);
        assert.deepEqual(queue.map((run) => runs.find((known) => known.runId === run).content.split(" ").at(-1)), expected);
      };
      const second = await person.tab(`/sessions/${id}`);
      await order(second, ["first", "second", "third"]);
      assert.equal(await strip.first().getByRole("button", { name: "Move queued message up" }).isDisabled(), true);
      // By its button, where the focus stays with it; then by a key.
      await strip.filter({ hasText: "third" }).getByRole("button", { name: "Move queued message up" }).click();
      await order(person, ["first", "third", "second"]);
      await page.waitForFunction(() => document.activeElement?.closest(".queued")?.textContent.includes("third"));
      await page.keyboard.press("Alt+ArrowUp");
      await order(person, ["third", "first", "second"]);
      await order(second, ["third", "first", "second"]);
      await strip.filter({ hasText: "second" }).dragTo(strip.filter({ hasText: "first" }));
      await order(person, ["third", "second", "first"]);
      await page.reload();
      await order(person, ["third", "second", "first"]);
      assert.deepEqual(await faults(page), []);
      await strip.filter({ hasText: "second" }).getByRole("button", { name: "Remove queued message" }).click();
      await order(person, ["third", "first"]);
      await page.getByRole("button", { name: "Stop" }).click();
      await page.getByRole("group", { name: "Queue held" }).getByRole("button", { name: "Resume queue" }).click();
      await strip.first().waitFor({ state: "detached" });
      await person.idle();
      const { runs } = await server.api(`/api/sessions/${id}/runs`);
      const carried = runs.filter((run) => run.status === "completed").sort((a, b) => a.startedAt.localeCompare(b.startedAt));
      assert.deepEqual(carried.map((run) => run.content), ["run: echo third", "run: echo first"]);
    },
  },
  {
    name: "the reader keeps their place while text arrives, and follows again when they ask",
    async tell({ server, visit }) {
      const person = await visit({ height: 500 });
      const { page } = person;
      const id = await person.start("big answer 8");
      await person.idle();
      await person.send("count to 9000");
      await person.running();
      await person.sees("1 2 3 4 5");
      const box = page.locator("section.chat .scroll");
      await box.evaluate((one) => one.dispatchEvent(new WheelEvent("wheel", { deltaY: -200, bubbles: true })));
      await box.evaluate((one) => (one.scrollTop = 40));
      const pill = page.getByRole("button", { name: /Follow live/ });
      await pill.waitFor();
      const before = await box.evaluate((one) => one.scrollTop);
      const { lastSeq } = await server.api(`/api/sessions/${id}`);
      for (let head = lastSeq; head < lastSeq + 40; ) head = (await server.api(`/api/sessions/${id}`)).lastSeq;
      assert.equal(await box.evaluate((one) => one.scrollTop), before);
      await pill.click();
      await page.waitForFunction(() => {
        const one = document.querySelector("section.chat .scroll");
        return one.scrollHeight - one.scrollTop - one.clientHeight < 64;
      });
      await page.getByRole("button", { name: "Stop" }).click();
      await person.idle();
    },
  },
  {
    name: "sessions are searched, filtered, renamed in place and deleted after a question",
    async tell({ server, visit }) {
      await server.api("/api/sessions", { method: "POST", body: { name: "Harbour rota" } });
      await server.api("/api/sessions", { method: "POST", body: { name: "Ferry prices" } });
      const person = await visit();
      const { page } = person;
      const list = page.getByRole("navigation", { name: "Session list" });
      await list.getByText("Harbour rota").waitFor();
      await page.evaluate(() => document.activeElement.blur());
      await page.keyboard.press("/");
      await page.keyboard.type("ferry pri");
      await list.getByText("Harbour rota").waitFor({ state: "detached" });
      await page.getByLabel("Search sessions").fill("no such thing");
      await page.getByText("No session matches ‘no such thing’.").waitFor();
      await page.getByRole("button", { name: "Clear search" }).click();
      const row = list.getByRole("link", { name: /Ferry prices/ });
      await row.focus();
      await page.keyboard.press("F2");
      await list.getByLabel("Session name").fill("Ferry fares");
      await page.keyboard.press("Enter");
      await list.getByText("Ferry fares").waitFor();
      await list.getByRole("link", { name: /Ferry fares/ }).focus();
      await page.keyboard.press("Delete");
      await page.getByRole("dialog", { name: /Delete/ }).getByRole("button", { name: "Delete" }).click();
      await list.getByRole("link", { name: /Ferry fares/ }).waitFor({ state: "detached" });
      const left = await server.api("/api/sessions");
      assert.equal(left.sessions.some((session) => session.name === "Ferry fares"), false);
    },
  },
  {
    name: "a file of a name that is there replaces it or is kept beside it, as somebody chooses by keys",
    async tell({ server, visit, pictures }) {
      const person = await visit();
      const { page } = person;
      const file = (text, name = "sales.csv") => ({ name, mimeType: "text/csv", buffer: Buffer.from(text) });
      const list = page.getByRole("list", { name: "Attachments" });
      // Two of one name before there is a session.
      await page.getByLabel("Files to attach").setInputFiles(file("first"));
      await page.getByLabel("Files to attach").setInputFiles(file("second"));
      await list.getByRole("alert").getByText("A file with this name already exists.").waitFor();
      assert.equal(await page.getByRole("button", { name: /^Start/ }).isDisabled(), true);
      await list.getByRole("button", { name: "Keep both files named sales.csv" }).click();
      const id = await person.start("run: cat /user-input/*");
      await person.sees("first");
      await person.idle();
      const kept = async (name) => (await server.file(id, `/user-input/${name}`)).toString();
      assert.deepEqual([await kept("sales.csv"), await kept("sales (2).csv")], ["first", "second"]);
      // In the conversation: the question is reached and answered by keys, and the message waits for the answer.
      await page.getByLabel("Files to attach").setInputFiles(file("third, and longer"));
      const chip = list.getByRole("listitem");
      await chip.getByRole("alert").waitFor();
      await page.getByLabel("Message", { exact: true }).fill("run: cat /user-input/sales.csv");
      assert.equal(await page.getByRole("button", { name: "Send" }).isDisabled(), true);
      assert.deepEqual(await faults(page), []);
      if (pictures) await page.screenshot({ path: join(pictures, "taken.png") });
      await page.getByLabel("Message", { exact: true }).press("Shift+Tab");
      await page.keyboard.press("Shift+Tab");
      await page.keyboard.press("Shift+Tab");
      assert.equal(await page.evaluate(() => document.activeElement.getAttribute("aria-label")), "Replace the existing sales.csv");
      await page.keyboard.press("Enter");
      await chip.getByText("17 B").waitFor();
      await page.keyboard.press("Enter");
      await person.log().getByText("third, and longer").first().waitFor();
      await person.idle();
      assert.deepEqual([await kept("sales.csv"), await kept("sales (2).csv")], ["third, and longer", "second"]);
      // And beside the other two.
      await page.getByLabel("Files to attach").setInputFiles(file("fourth"));
      await chip.getByRole("button", { name: "Keep both files named sales.csv" }).click();
      await chip.getByText("sales (3).csv").waitFor();
      await chip.getByText("6 B").waitFor();
      assert.equal(await kept("sales (3).csv"), "fourth");
      await chip.getByRole("button", { name: "Remove sales (3).csv" }).click();
      // From the files too, several at once.
      await page.getByRole("tab", { name: /^Files/ }).click();
      const pane = page.getByRole("tabpanel");
      await pane.locator("input[type=file]").setInputFiles([file("fifth"), file("new", "rota.txt")]);
      await pane.getByRole("alert").getByRole("button", { name: "Replace" }).click();
      await page.getByText("2 files uploaded").waitFor();
      assert.deepEqual([await kept("sales.csv"), await kept("rota.txt")], ["fifth", "new"]);
    },
  },
];
