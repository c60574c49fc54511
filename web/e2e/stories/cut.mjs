// The line is cut, or the server killed, while something waits or somebody else works: nothing is lost, nothing doubled.
import assert from "node:assert/strict";
import { Wire } from "../server.mjs";

const lost = (page) => page.getByText("Connection lost", { exact: false });

/** What the page shows of the conversation is what the server keeps of it, each once, in its order. */
async function isWhole(person, server, id) {
  const { blocks, subagents } = await server.api(`/api/sessions/${id}`);
  const texts = blocks.filter((block) => block.type === "assistant_text").map((block) => block.id);
  assert.deepEqual(await person.allKeys("text"), texts);
  const asked = blocks.filter((block) => block.type === "user_message").length;
  assert.equal((await person.allKeys("user")).length, asked);
  assert.equal((await person.allKeys("subagent")).length, blocks.filter((block) => block.type === "subagent").length);
  return { blocks, subagents };
}

/** The same for somebody who comes now. */
async function isWholeAnew(person, server, id) {
  await person.page.reload();
  await person.idle();
  return isWhole(person, server, id);
}

/** More than any buffer on the way holds, so that a cut falls into the middle of it. */
const LARGE = Buffer.alloc(12_000_000, "warren ");
const attach = (page, name) => page.getByLabel("Files to attach").setInputFiles({ name, mimeType: "application/octet-stream", buffer: LARGE });
const attachment = (page, name) => page.getByRole("list", { name: "Attachments" }).getByRole("listitem").filter({ hasText: name });

/** The server keeps the file once, whole, and the agent reads it. */
async function isUploaded(person, server, id, name) {
  const { entries } = await server.api(`/api/sessions/${id}/fs?path=/user-input`);
  assert.deepEqual(entries.map((entry) => [entry.name, entry.sizeBytes]), [[name, LARGE.length]]);
  assert.ok((await server.file(id, `/user-input/${name}`)).equals(LARGE));
  await person.send(`run: wc -c < /user-input/${name}`);
  await person.sees(String(LARGE.length));
  await person.idle();
}

/** Where a replay of the newest version is started, and what is said of it. */
async function replaying(person) {
  const { page } = person;
  await page.getByRole("tab", { name: /^Versions/ }).click();
  await page.getByRole("button", { name: /^Version 1:/ }).click();
  const panel = page.getByRole("complementary", { name: "Panel" });
  return { panel, start: panel.getByRole("button", { name: "Replay", exact: true }), going: panel.getByRole("button", { name: "Replaying…" }), same: panel.getByRole("button", { name: "Replayed, same files" }) };
}
const replays = async (server, id) => (await server.api(`/api/sessions/${id}/replays`)).replays.map((replay) => replay.status);

export const STORIES = [
  {
    name: "the network is cut in the middle of an upload: the page says so, and the file goes up whole when asked again",
    async tell({ server, visit }) {
      const wire = await Wire.to(server);
      try {
        const person = await visit({ base: wire.url });
        const { page } = person;
        const id = await person.start("count to 3");
        await person.idle();
        wire.after(LARGE.length / 2, () => wire.cut());
        await attach(page, "large.bin");
        const row = attachment(page, "large.bin");
        await row.getByRole("alert").getByText("Not uploaded: The server cannot be reached.").waitFor();
        // Nothing of it is there, and no message goes without it.
        assert.deepEqual((await server.api(`/api/sessions/${id}/fs?path=/user-input`)).entries, []);
        await page.getByLabel("Message", { exact: true }).fill("read it");
        assert.equal(await page.getByRole("button", { name: "Send" }).isDisabled(), true);
        wire.mend();
        await lost(page).waitFor({ state: "detached" });
        await row.getByRole("button", { name: "Try again to upload large.bin" }).click();
        await row.getByText("12 MB").waitFor();
        await isUploaded(person, server, id, "large.bin");
        assert.equal(await page.getByRole("list", { name: "Attachments" }).count(), 0);
        await isWhole(person, server, id);
      } finally {
        wire.end();
      }
    },
  },
  {
    name: "an upload whose answer is lost is sent again and kept once, from the composer and from the files",
    async tell({ server, visit }) {
      const person = await visit();
      const { page } = person;
      const id = await person.start("count to 3");
      await person.idle();
      const loseAnswer = () => page.route(/\/fs\/upload/, async (route) => {
        await route.fetch();
        await route.abort("connectionreset");
      }, { times: 1 });
      await loseAnswer();
      await attach(page, "twice.bin");
      await attachment(page, "twice.bin").getByRole("button", { name: "Try again to upload twice.bin" }).click();
      await attachment(page, "twice.bin").getByText("12 MB").waitFor();
      await isUploaded(person, server, id, "twice.bin");
      await page.getByRole("tab", { name: /^Files/ }).click();
      await loseAnswer();
      const pane = page.getByRole("tabpanel");
      await pane.locator("input[type=file]").setInputFiles({ name: "small.txt", mimeType: "text/plain", buffer: Buffer.from("small\n") });
      const failed = pane.getByRole("alert").filter({ hasText: "small.txt was not uploaded" });
      await failed.getByRole("button", { name: "Try again" }).click();
      await failed.waitFor({ state: "detached" });
      await page.getByText("1 file uploaded").waitFor();
      assert.equal((await server.file(id, "/user-input/small.txt")).toString(), "small\n");
      assert.equal((await server.api(`/api/sessions/${id}/fs?path=/user-input`)).entries.length, 2);
    },
  },
  {
    name: "the server is killed in the middle of an upload: nothing half is kept, and the file goes up whole afterwards",
    async tell({ server, visit }) {
      const wire = await Wire.to(server);
      try {
        const person = await visit({ base: wire.url });
        const { page } = person;
        const id = await person.start("count to 3");
        await person.idle();
        let killed;
        wire.after(LARGE.length / 2, () => (killed = server.kill()));
        await attach(page, "large.bin");
        const row = attachment(page, "large.bin");
        await row.getByRole("alert").getByText("Not uploaded", { exact: false }).waitFor();
        await killed;
        await server.begin();
        await lost(page).waitFor({ state: "detached" });
        assert.deepEqual((await server.api(`/api/sessions/${id}/fs?path=/user-input`).catch(() => ({ entries: [] }))).entries, []);
        await row.getByRole("button", { name: "Try again to upload large.bin" }).click();
        await row.getByText("12 MB").waitFor();
        await isUploaded(person, server, id, "large.bin");
        await isWhole(person, server, id);
      } finally {
        wire.end();
      }
    },
  },
  {
    name: "the network is cut in the middle of a replay, and before one: each is carried out once, and the page says how it came out",
    async tell({ server, visit }) {
      const wire = await Wire.to(server);
      try {
        const person = await visit({ base: wire.url });
        const { page } = person;
        const id = await person.start("run: sleep 4; echo slept > notes.txt");
        await person.idle();
        const { panel, start, going, same } = await replaying(person);
        await start.click();
        await going.waitFor();
        wire.cut();
        await lost(page).waitFor();
        wire.mend();
        await lost(page).waitFor({ state: "detached" });
        await same.waitFor();
        assert.deepEqual(await replays(server, id), ["done"]);
        // Asked for while nobody hears it.
        wire.cut();
        await lost(page).waitFor();
        await start.click();
        const unknown = panel.getByRole("alert").filter({ hasText: "If the replay started, it appears here" });
        await unknown.waitFor();
        wire.mend();
        await lost(page).waitFor({ state: "detached" });
        assert.deepEqual(await replays(server, id), ["done"]);
        // Heard, and its answer lost: it appears all the same, and nobody starts it twice.
        await page.route(/\/replay$/, async (route) => {
          await route.fetch();
          await route.abort("connectionreset");
        }, { times: 1 });
        await start.click();
        await going.waitFor();
        await unknown.waitFor({ state: "detached" });
        await same.waitFor();
        assert.deepEqual(await replays(server, id), ["done", "done"]);
        await isWhole(person, server, id);
      } finally {
        wire.end();
      }
    },
  },
  {
    name: "the server is killed in the middle of a replay: the page says that it failed and why, and replays again",
    async tell({ server, visit }) {
      const person = await visit();
      const { page } = person;
      const id = await person.start("run: sleep 4; echo slept > notes.txt");
      await person.idle();
      const { panel, start, going, same } = await replaying(person);
      await start.click();
      await going.waitFor();
      await server.kill();
      await lost(page).waitFor();
      await server.begin();
      await lost(page).waitFor({ state: "detached" });
      await panel.getByRole("button", { name: "Replay failed" }).click();
      await page.getByRole("dialog", { name: "Replay" }).getByText("Nothing of the session was changed.", { exact: false }).waitFor();
      await page.keyboard.press("Escape");
      await start.click();
      await same.waitFor();
      assert.deepEqual((await replays(server, id)).sort(), ["done", "failed"]);
      await isWhole(person, server, id);
    },
  },
  {
    name: "the network is cut while a subagent works: its thread is whole when the line is back",
    async tell({ server, visit }) {
      const wire = await Wire.to(server);
      try {
        const person = await visit({ base: wire.url });
        const { page } = person;
        const id = await person.start("Build me a dashboard of our sales");
        await page.locator("details.subag").waitFor();
        wire.cut();
        await lost(page).waitFor();
        wire.mend();
        await lost(page).waitFor({ state: "detached" });
        await person.idle();
        await person.sees("strongest region");
        const { subagents } = await isWhole(person, server, id);
        assert.equal(subagents.length, 1);
        await person.log().getByRole("button", { name: /^Open .* beside$/ }).click();
        const thread = page.getByRole("complementary", { name: /^Thread of/ });
        await thread.getByText("does not say its unit", { exact: false }).waitFor();
        assert.equal(await thread.getByText("One finding", { exact: false }).count(), 1);
      } finally {
        wire.end();
      }
    },
  },
  {
    name: "the server is killed while a subagent works: what was recorded is shown once, and the session goes on",
    async tell({ server, visit }) {
      const person = await visit();
      const { page } = person;
      const id = await person.start("Build me a dashboard of our sales");
      await page.locator("details.subag").waitFor();
      await server.kill();
      await lost(page).waitFor();
      await server.begin();
      await lost(page).waitFor({ state: "detached" });
      await person.idle();
      await isWhole(person, server, id);
      await person.send("count to 5");
      await person.sees("1 2 3 4 5");
      await person.idle();
      await isWhole(person, server, id);
      await isWholeAnew(person, server, id);
    },
  },
  {
    name: "panes opened while the line is cut say so, and show what they have when it is back",
    async tell({ server, visit }) {
      const wire = await Wire.to(server);
      try {
        const person = await visit({ base: wire.url });
        const { page } = person;
        await person.start("run: mkdir -p outputs && echo '# Method' > outputs/method.md");
        await person.idle();
        // Closed, and loaded anew without what the browser keeps: nothing of the panel is here yet, not even its code.
        await page.getByRole("button", { name: "Hide panel" }).click();
        const browser = await page.context().newCDPSession(page);
        await browser.send("Network.enable");
        await browser.send("Network.setCacheDisabled", { cacheDisabled: true });
        await page.reload();
        await person.idle();
        wire.cut();
        await lost(page).waitFor();
        await page.getByRole("button", { name: "Show panel" }).click();
        await page.getByRole("alert").filter({ hasText: "could not be loaded" }).getByRole("button", { name: "Try again" }).waitFor();
        wire.mend();
        const panel = page.getByRole("complementary", { name: "Panel" });
        await panel.getByRole("heading", { name: "Method" }).waitFor();
        // Its code is here now; what it shows is not.
        wire.cut();
        await lost(page).waitFor();
        const unread = (what) => page.getByRole("alert").filter({ hasText: what });
        await panel.getByRole("tab", { name: /^Versions/ }).click();
        await unread("The versions could not be read").getByRole("button", { name: "Try again" }).click();
        await unread("The versions could not be read").waitFor();
        await panel.getByRole("tab", { name: /^Files/ }).click();
        await unread("The files could not be read").waitFor();
        wire.mend();
        await panel.getByRole("treeitem", { name: /outputs/ }).waitFor();
        await panel.getByRole("tab", { name: /^Versions/ }).click();
        await panel.getByRole("button", { name: /^Version 1:/ }).waitFor();
        await page.getByRole("link", { name: "Overview" }).click();
        await page.getByRole("heading", { name: "Sandboxes" }).waitFor();
        await page.goBack();
        await lost(page).waitFor({ state: "detached" });
        // Half of an answer: what the server said broke off.
        let halves = 0;
        await page.route(/\/api\/(usage|sandboxes|agents|doctor)/, (route) => (halves++ < 40 ? route.fulfill({ status: 200, contentType: "application/json", body: '{"rows": [' }) : route.fallback()));
        await page.getByRole("link", { name: "Overview" }).click();
        await unread("Spending could not be loaded").waitFor();
        await page.unroute(/\/api\/(usage|sandboxes|agents|doctor)/);
        await page.getByRole("heading", { name: "Tokens", exact: true }).waitFor();
        await page.getByRole("button", { name: "Try again" }).first().waitFor({ state: "detached" });
      } finally {
        wire.end();
      }
    },
  },
  {
    name: "Claude Code waits for an answer while the line is cut and while the server is killed: asked once, carried out once",
    agent: "claude-code",
    async tell({ server, visit }) {
      const reader = await server.api("/api/tokens", { method: "POST", body: { name: "Reader", scope: "admin:ro" } });
      const wire = await Wire.to(server);
      try {
        const person = await visit({ base: wire.url });
        const { page } = person;
        const request = page.getByRole("group", { name: "Approval request" });
        const id = await person.start("run: echo once >> counted; true", { agent: "Claude Code", asks: true });
        await request.getByText("echo once").waitFor();
        // Who may only read sees the question, and no button that answers it.
        const guest = await visit({ token: reader.secret });
        await guest.page.goto(`${guest.base}/sessions/${id}`);
        await guest.page.getByText("You have read-only access, so you cannot answer.").waitFor();
        assert.equal(await guest.page.getByRole("button", { name: /Allow|Deny|^Stop$|^Send$/ }).count(), 0);
        wire.cut();
        await lost(page).waitFor();
        wire.mend();
        await lost(page).waitFor({ state: "detached" });
        assert.equal(await request.count(), 1);
        await request.getByRole("button", { name: /Allow once/ }).click();
        await guest.sees("Allowed once");
        await person.idle();
        assert.equal((await server.api(`/api/approvals?sessionId=${id}`)).approvals.length, 1);
        // Killed while it asks again: the run is over, and its question stays for the run that goes on from there.
        await person.send("run: echo never >> counted");
        await request.getByText("echo never").waitFor();
        await server.kill();
        await lost(page).waitFor();
        await server.begin();
        await lost(page).waitFor({ state: "detached" });
        await person.sees("The run failed");
        assert.equal(await request.count(), 1);
        const { approvals } = await server.api(`/api/approvals?sessionId=${id}`);
        assert.deepEqual(approvals.map((one) => one.resolution?.decision), [undefined, "allow"]);
        await request.locator("[data-key=d]").click();
        await request.waitFor({ state: "detached" });
        await person.idle();
        await isWhole(person, server, id);
        const kept = await fetch(`${server.url}/api/sessions/${id}/fs/read?path=counted`, { headers: { authorization: `Bearer ${server.token}` } });
        assert.equal(await kept.text(), "once\n");
      } finally {
        wire.end();
      }
    },
  },
];
