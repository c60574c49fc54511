// What is typed approves nothing: only a request that somebody went to on purpose is answered.
import assert from "node:assert/strict";
import { join } from "node:path";
import { faults } from "../axe.mjs";

const SEQUENCES = 1_000;
/** So many requests must have been answerable while keys were typed; a slow machine types more sequences until they were. */
const ARMED = 3;
const MAX_SEQUENCES = 10_000;
/** No Tab and no Alt+A: these lead to a request on purpose, and what follows them is an answer. */
const KEYS = [..."aaaaaaddddyyyjkofg123456789 bcehilmpqrstuvwxz.,!", "Enter", "Enter", "Space", "Backspace", "ArrowUp", "ArrowDown", "Home", "End", "Shift+A", "Shift+D", "Shift+Enter", "Control+a"];
/** Leave the session, cover it, or stop its run; seldom, or no request would be in view for long. */
const RARE = ["n", "[", "?", "Escape", "Control+k"];
/** Where somebody may have left the focus. */
const PLACES = ["#msg", "#msg", "#msg", "body", "body", "section.chat .scroll", "[role=log] [data-kind]:last-of-type", "#find", "#main"];

/** Numbers that a seed alone decides (mulberry32). */
function numbers(seed) {
  let state = seed >>> 0;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) % below;
  };
}

/** Makes requests appear and vanish until told to stop: asks, waits a while, refuses. */
async function referee(server, id, state, random) {
  const pending = async () => (await server.api(`/api/approvals?sessionId=${id}&status=pending`)).approvals;
  for (let n = 0; !state.done; n++) {
    if ((await pending()).length === 0) {
      // A stray message may be running; this one is asked after it.
      await server.api(`/api/sessions/${id}/messages`, { method: "POST", body: { content: `run: touch typed-${n}`, idempotencyKey: crypto.randomUUID() } }).catch(() => {});
    }
    const until = performance.now() + 3_000;
    while ((await pending()).length === 0 && performance.now() < until && !state.done) await new Promise((next) => setTimeout(next, 30));
    // Some go before they are armed, some long after.
    await new Promise((next) => setTimeout(next, random(4_000)));
    for (const { approvalId } of await pending()) {
      // Escape, pressed twice, may have stopped the run first.
      await server.api(`/api/approvals/${approvalId}`, { method: "POST", body: { decision: "deny" } }).catch(() => {});
    }
  }
}

export const STORIES = [
  {
    name: "typing approves nothing: a thousand random key sequences while requests come and go",
    async tell({ server, visit }) {
      const seed = Number(process.env.E2E_SEED ?? Math.floor(Math.random() * 2 ** 31));
      const random = numbers(seed);
      const person = await visit();
      const { page } = person;
      const id = await person.start("count to 3", { asks: true });
      await page.waitForFunction(() => document.activeElement?.id === "msg");
      await person.idle();
      // Counts the requests that could have been answered, so that a page without any does not pass.
      await page.evaluate(() => {
        window.armed = new Set();
        new MutationObserver(() => {
          for (const button of document.querySelectorAll("[data-approval] [data-answers][aria-disabled=false]")) window.armed.add(button.closest("[data-approval]").dataset.approval);
        }).observe(document.body, { subtree: true, childList: true, attributes: true });
      });
      const state = { done: false };
      const refereed = referee(server, id, state, numbers(seed + 1));
      try {
        const armed = () => page.evaluate(() => window.armed.size);
        for (let n = 0; n < SEQUENCES || (n < MAX_SEQUENCES && (await armed()) < ARMED); n++) {
          const place = PLACES[random(PLACES.length)];
          const keys = Array.from({ length: 1 + random(7) }, () => KEYS[random(KEYS.length)]);
          if (n % 60 === 0) keys.push(RARE[random(RARE.length)], KEYS[random(KEYS.length)]);
          // What is sent queues up before the next request: seldom.
          const typed = place === "#msg" && n % 50 !== 0 ? keys.map((key) => (key === "Enter" ? "Shift+Enter" : key)) : keys;
          await page.evaluate(([path, to]) => {
            document.querySelector("dialog[open] button.btn.line")?.click();
            if (location.pathname !== path) document.querySelector(`a[href="${path}"]`)?.click();
            const element = document.querySelector(to);
            if (to === "body" || !element) document.activeElement?.blur();
            else element.focus();
          }, [`/sessions/${id}`, place]);
          // All at once: nobody waits for a page that is slow to draw.
          await Promise.all(typed.map((key) => page.keyboard.press(key)));
          const { approvals } = n % 25 ? { approvals: [] } : await server.api(`/api/approvals?sessionId=${id}`);
          const allowed = approvals.filter((one) => ["allow", "allow_always"].includes(one.resolution?.decision));
          assert.deepEqual(allowed, [], `seed ${seed}: sequence ${n} at ${place}, or one of the 25 before: ${JSON.stringify(typed)}`);
        }
      } finally {
        state.done = true;
        await refereed;
      }
      const { approvals } = await server.api(`/api/approvals?sessionId=${id}&limit=100`);
      const decisions = new Set(approvals.map((one) => one.resolution?.decision));
      assert.ok(!decisions.has("allow") && !decisions.has("allow_always"), `seed ${seed}: ${[...decisions]}`);
      const armed = await page.evaluate(() => window.armed.size);
      assert.ok(armed >= ARMED, `seed ${seed}: only ${armed} of ${approvals.length} requests could be answered while keys were typed`);
    },
  },
  {
    name: "the focus is in the message after Start and after every overlay, and a request is heard of, gone to by a key, and answered",
    async tell({ server, visit }) {
      const person = await visit();
      const { page } = person;
      const id = await person.start("run: touch asked", { asks: true });
      const inMessage = () => page.waitForFunction(() => document.activeElement?.id === "msg");
      const request = page.getByRole("group", { name: "Approval request" });
      await request.waitFor();
      await inMessage();
      await page.getByRole("status").filter({ hasText: "The agent asks" }).waitFor({ state: "attached" });
      await page.keyboard.type("please also install pandas");
      assert.equal(await page.locator("#msg").inputValue(), "please also install pandas");
      // Overlays.
      await page.keyboard.press("Control+k");
      await page.getByRole("combobox").waitFor();
      await page.keyboard.press("Escape");
      await inMessage();
      await page.getByTitle("Change the model").click();
      await page.getByRole("dialog", { name: "Model" }).waitFor();
      await page.getByRole("button", { name: "Cancel" }).click();
      await inMessage();
      await page.getByRole("button", { name: /guards in force/ }).click();
      await page.getByRole("dialog", { name: "Isolation of this session" }).waitFor();
      await page.keyboard.press("Escape");
      await inMessage();
      await page.locator("section.chat .scroll").focus();
      await page.keyboard.press("?");
      await page.getByRole("dialog", { name: "Keys" }).getByText("Go to the agent’s request").waitFor();
      await page.keyboard.press("Escape");
      await inMessage();
      // Outside of text letters still do not reach the request, until a key leads there.
      await page.locator("section.chat .scroll").focus();
      await request.getByRole("button", { name: "Allow once" }).and(page.locator("[aria-disabled=false]")).waitFor();
      await page.keyboard.press("a");
      await page.keyboard.press("Alt+a");
      await page.waitForFunction(() => document.activeElement?.hasAttribute("data-approval"));
      assert.equal((await server.api(`/api/approvals?sessionId=${id}&status=pending`)).approvals.length, 1);
      await page.keyboard.press("d");
      await person.sees("Denied");
      await page.waitForFunction(() => document.activeElement?.matches("section.chat .scroll"));
      const { approvals } = await server.api(`/api/approvals?sessionId=${id}`);
      assert.deepEqual(approvals.map((one) => one.resolution?.decision), ["deny"]);
    },
  },
  {
    name: "always allow shows its rule, counts for it alone, and is withdrawn",
    async tell({ server, visit, pictures }) {
      const person = await visit();
      const { page } = person;
      // A request to write a file: the path first, then the text, and the keys where they act.
      const written = await person.start("create file notes.md with a haiku", { asks: true });
      const writes = page.getByRole("group", { name: "Approval request" }).filter({ hasText: "asks to write notes.md" });
      await writes.getByRole("region", { name: "Write notes.md" }).locator(".diff .p").first().waitFor();
      await page.locator(".top").getByText("Ask before acting").waitFor();
      await writes.getByText("to answer with keys").waitFor();
      await person.toRequest();
      await writes.getByText("to allow once, D to deny").waitFor();
      assert.deepEqual(await faults(page), []);
      await writes.getByRole("button", { name: "Deny", exact: true }).focus();
      await writes.getByText("D or Enter to deny").waitFor();
      await page.keyboard.press("a");
      assert.deepEqual((await server.api(`/api/approvals?sessionId=${written}`)).approvals.map((one) => one.status), ["pending"]);
      await page.keyboard.press("d");
      await person.sees("Denied");
      await person.idle();
      const id = await person.start("run: touch first.txt", { asks: true });
      const request = page.getByRole("group", { name: "Approval request" });
      const pending = async () => (await server.api(`/api/approvals?sessionId=${id}&status=pending`)).approvals;
      await request.getByText("touch first.txt").waitFor();
      await request.getByText("bash").first().waitFor();
      if (pictures) await page.screenshot({ path: join(pictures, "approval.png") });
      await request.getByRole("button", { name: "Always allow…" }).click();
      await request.getByRole("radio", { name: "Exactly this command" }).and(page.locator(":checked")).waitFor();
      await request.getByRole("radio", { name: "Single commands that begin with" }).check();
      await request.getByText("bash: touch *").waitFor();
      assert.deepEqual(await faults(page), []);
      if (pictures) await page.screenshot({ path: join(pictures, "approval-rule.png") });
      await request.getByRole("button", { name: "Always allow this" }).click();
      await person.sees("rule: bash: touch *");
      await person.idle();
      // Covered: nobody is asked.
      await person.send("run: touch second.txt");
      await person.sees("by a rule of this session");
      await person.idle();
      assert.equal((await server.file(id, "second.txt")).length, 0);
      // Not covered: the same words, and more.
      await person.send("run: touch third.txt; touch fourth.txt");
      await request.getByText("touch third.txt; touch fourth.txt").waitFor();
      assert.equal((await pending()).length, 1);
      await request.getByRole("button", { name: "Deny", exact: true }).click();
      await person.idle();
      // Withdrawn: asked again.
      await page.getByRole("button", { name: "Withdraw the rule" }).click();
      await page.getByRole("button", { name: "Withdraw the rule" }).waitFor({ state: "detached" });
      await person.send("run: touch fifth.txt");
      await request.getByText("touch fifth.txt").waitFor();
      assert.equal((await pending()).length, 1);
      const { approvals } = await server.api(`/api/approvals?sessionId=${id}`);
      assert.deepEqual(approvals.map((one) => [one.resolution?.decision, one.resolution?.by === "rule"]).reverse(), [["allow_always", false], ["allow", true], ["deny", false], [undefined, false]]);
      await request.getByRole("button", { name: "Deny", exact: true }).click();
      await person.idle();
    },
  },
];
