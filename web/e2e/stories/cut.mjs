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

export const STORIES = [
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
        assert.equal(await thread.getByText("Two findings", { exact: false }).count(), 1);
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
        await guest.page.getByText("Only members who may run can answer.").waitFor();
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
