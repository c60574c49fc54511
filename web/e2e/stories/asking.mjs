import assert from "node:assert/strict";
import { faults } from "../axe.mjs";

export const STORIES = [
  {
    name: "Claude Code is stopped in the middle of an answer and goes on with the next message",
    agent: "claude-code",
    async tell({ server, visit }) {
      const person = await visit();
      const { page } = person;
      const id = await person.start("count to 9000", { agent: "Claude Code" });
      await person.sees("1 2 3 4 5");
      await page.getByRole("button", { name: "Stop" }).click();
      await person.sees("Work up to this point is saved");
      await person.idle();
      await person.send("count to 3");
      await person.sees("Saved v");
      // The first run may have saved a version too.
      await person.idle(2);
      const { runs } = await server.api(`/api/sessions/${id}/runs`);
      assert.deepEqual(runs.map((run) => run.status), ["completed", "interrupted"]);
    },
  },
  {
    name: "Claude Code asks before it acts, and is allowed, refused with a reason, and answered",
    agent: "claude-code",
    async tell({ server, visit }) {
      const person = await visit();
      const { page } = person;
      const id = await person.start("run: touch allowed-by-key", { agent: "Claude Code", asks: true });
      const request = page.getByRole("group", { name: "Approval request" });
      await request.getByText("touch allowed-by-key").waitFor();
      await page.getByRole("navigation", { name: "Session list" }).getByText(/^Asks:/).waitFor();
      assert.deepEqual(await faults(page), []);
      await person.toRequest();
      await page.keyboard.press("a");
      await person.sees("Allowed once");
      await person.idle();
      await person.send("run: touch never-run");
      await request.getByRole("button", { name: "Deny with a reason" }).click();
      await page.getByLabel("Reason, for the agent").fill("not today");
      await request.getByRole("button", { name: "Deny" }).and(page.locator("[aria-disabled=false]")).waitFor();
      await page.keyboard.press("Enter");
      await person.sees("not today");
      await person.idle();
      await person.send("ask me a question");
      const question = page.getByRole("form", { name: "Question from the agent" });
      await question.getByText("Which colour should it be?").waitFor();
      await person.toRequest();
      await page.keyboard.press("2");
      await question.getByRole("button", { name: "Answer" }).click();
      await person.sees("Answered");
      await person.idle();
      const { approvals } = await server.api(`/api/approvals?sessionId=${id}`);
      assert.deepEqual(approvals.map((one) => one.resolution?.decision).reverse(), ["allow", "deny", "allow"]);
    },
  },
];
