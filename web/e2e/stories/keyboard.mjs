// Everything by keys: these people have no mouse, and the page is asked whether it saw one.
import assert from "node:assert/strict";
import { faults } from "../axe.mjs";

/** Out of a field by the key that leads out of it. */
async function leaveField(page) {
  for (let n = 0; n < 8; n++) {
    if (!(await page.evaluate(() => document.activeElement?.matches("input, textarea, select")))) return;
    await page.keyboard.press("Shift+Tab");
  }
  assert.fail("no key leads out of the field");
}

/** Presses Tab until what has the focus is of this role and name, as a person does who listens to where they are. */
async function tabTo(page, role, name, key = "Tab") {
  const wanted = page.getByRole(role, { name });
  await wanted.first().waitFor();
  for (let n = 0; n < 120; n++) {
    const focused = page.locator(":focus");
    if ((await focused.count()) > 0 && (await wanted.and(focused).count()) > 0) return;
    await page.keyboard.press(key);
  }
  assert.fail(`no Tab leads to the ${role} ${name}`);
}

async function pressOn(page, role, name, key = "Enter") {
  await tabTo(page, role, name);
  await page.keyboard.press(key);
}

/** Notes every press of a mouse or finger. */
const watchPointers = (page) => page.addInitScript(() => {
  window.pointed = [];
  for (const kind of ["pointerdown", "mousedown", "wheel"]) addEventListener(kind, (event) => event.isTrusted && window.pointed.push(kind), true);
});
const assertNoPointer = async (page) => assert.deepEqual(await page.evaluate(() => window.pointed), []);

async function signIn(page, server) {
  await page.goto(server.url);
  await page.getByLabel("Token").waitFor();
  await page.keyboard.type(server.token);
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "What shall we build?" }).waitFor();
  await page.waitForFunction(() => document.activeElement?.id === "msg" && document.querySelector("[role=radio][aria-checked=true]"));
}

export const STORIES = [
  {
    name: "the page is used by keyboard alone",
    async tell({ server, visit }) {
      const { page } = await visit({ outside: true });
      await signIn(page, server);
      await page.keyboard.press("Shift+Tab");
      await page.waitForFunction(() => document.activeElement?.getAttribute("role") === "radio");
      await page.keyboard.press("Tab");
      await page.keyboard.type("show me a failing tool");
      await page.keyboard.press("Enter");
      await page.waitForURL(/\/sessions\//);
      // The tool first: a session is idle before its run begins too, and while it runs Escape stays in the field.
      await page.waitForFunction(() => document.querySelector("[role=log] [data-kind=tool]"));
      await page.locator(".top .state.idle").waitFor();
      // Out of the field, block by block, closing one.
      await page.keyboard.press("Escape");
      for (let n = 0; n < 12; n++) {
        await page.keyboard.press("j");
        if (await page.evaluate(() => document.activeElement?.getAttribute("data-kind") === "tool")) break;
      }
      const open = () => page.evaluate(() => document.activeElement.closest("[data-kind]").querySelector("details").open);
      const before = await open();
      await page.keyboard.press("o");
      assert.equal(await open(), !before);
      // The palette, by its key, to the keys, and back.
      await page.keyboard.press("Control+k");
      await page.getByRole("combobox").waitFor();
      await page.keyboard.type("all keys");
      await page.keyboard.press("Enter");
      await page.getByRole("dialog", { name: "Keys" }).waitFor();
      assert.deepEqual(await faults(page), []);
      await page.keyboard.press("Escape");
      await page.getByRole("dialog", { name: "Keys" }).waitFor({ state: "detached" });
      await page.waitForFunction(() => document.activeElement?.id === "msg");
      await page.keyboard.press("Escape");
      await page.keyboard.press("n");
      await page.getByRole("heading", { name: "What shall we build?" }).waitFor();
    },
  },
  {
    name: "from sign-in to sign-out by keyboard alone: an agent asks and is allowed, its files are edited, a version is gone back to and forked",
    agent: "claude-code",
    async tell({ server, visit }) {
      const person = await visit({ outside: true });
      const { page } = person;
      const panel = page.getByRole("complementary", { name: "Panel" });
      const has = (tab) => panel.getByRole("tab", { name: new RegExp(`^${tab}`), selected: true }).waitFor();
      await watchPointers(page);
      await signIn(page, server);
      // A new session with another agent, which asks first.
      await tabTo(page, "radio", /./, "Shift+Tab");
      for (let n = 0; n < 12 && !(await page.getByRole("radio", { name: "Claude Code", checked: true }).count()); n++) await page.keyboard.press("ArrowRight");
      await page.getByRole("radio", { name: "Claude Code", checked: true }).waitFor();
      await pressOn(page, "button", /^Permissions:/);
      await page.getByRole("menuitemradio", { name: "Auto-approve" }).waitFor();
      await page.keyboard.press("ArrowDown");
      await page.keyboard.press("Enter");
      await tabTo(page, "textbox", "Session name");
      await page.keyboard.type("Hands off");
      await tabTo(page, "textbox", "First message", "Shift+Tab");
      await page.keyboard.type("run: mkdir -p outputs && echo '# Notes' > outputs/notes.md");
      await page.keyboard.press("Enter");
      await page.waitForURL(/\/sessions\//);
      const id = person.sessionId();
      // It asks, and is allowed: by its letter, and the next time by its button.
      const request = page.getByRole("group", { name: "Approval request" });
      await request.getByText("echo '# Notes'", { exact: false }).waitFor();
      await person.toRequest();
      await page.keyboard.press("a");
      await person.sees("Allowed once");
      await person.idle();
      await tabTo(page, "textbox", "Message");
      await page.keyboard.type("run: echo more >> outputs/notes.md");
      await page.keyboard.press("Enter");
      await request.getByText("echo more", { exact: false }).waitFor();
      await page.keyboard.press("Escape");
      await tabTo(page, "button", /^Allow once/, "Shift+Tab");
      await page.locator("[data-answers][aria-disabled=false]:focus").waitFor();
      await page.keyboard.press("Enter");
      await person.sees("Saved v2");
      await person.idle();
      // What it made, in full and back.
      await page.keyboard.press("g");
      await page.keyboard.press("a");
      await has("Artifacts");
      await tabTo(page, "tab", /notes\.md/);
      await panel.getByRole("heading", { name: "Notes" }).waitFor();
      await page.keyboard.press("f");
      await page.waitForFunction(() => document.fullscreenElement !== null);
      await page.keyboard.press("f");
      await page.waitForFunction(() => document.fullscreenElement === null);
      // Its files: found in the tree, opened, edited, saved.
      await page.keyboard.press("g");
      await page.keyboard.press("f");
      await has("Files");
      await tabTo(page, "treeitem", /outputs/);
      await page.keyboard.press("ArrowRight");
      await page.locator("[role=treeitem]:focus", { hasText: "notes.md" }).waitFor();
      await page.keyboard.press("Enter");
      await pressOn(page, "button", "Edit");
      await tabTo(page, "textbox", /^Text of/);
      await page.keyboard.press("Control+a");
      await page.keyboard.type("by hand");
      // Tab belongs to the text; Escape leads out of it.
      await page.keyboard.press("Escape");
      await tabTo(page, "button", "Save");
      await page.keyboard.press("Enter");
      await panel.getByRole("textbox", { name: /^Text of/ }).waitFor({ state: "detached" });
      assert.equal((await server.file(id, "outputs/notes.md")).toString(), "by hand");
      // A version is looked at, gone back to, and forked.
      await page.keyboard.press("g");
      await page.keyboard.press("v");
      await has("Versions");
      await pressOn(page, "button", /^Version 1:/);
      await panel.getByRole("button", { name: /^Version 1:/, pressed: true }).waitFor();
      await pressOn(page, "button", "Restore");
      const restore = page.getByRole("dialog", { name: /^Restore v1/ });
      await restore.waitFor();
      await pressOn(page, "button", "Restore v1");
      await restore.waitFor({ state: "detached" });
      await panel.getByRole("button", { name: /^Version \d+:/, pressed: false }).first().waitFor();
      await person.idle();
      assert.equal((await server.file(id, "outputs/notes.md")).toString(), "# Notes\n");
      await leaveField(page);
      await page.keyboard.press("Shift+F");
      await page.getByRole("dialog", { name: "Fork" }).waitFor();
      await page.keyboard.type("Branch of it");
      await page.keyboard.press("Enter");
      await page.getByRole("heading", { name: "Branch of it" }).waitFor();
      // Back by the palette; the panel away and here again; all keys; the other session by a bracket.
      await page.keyboard.press("Control+k");
      await page.getByRole("combobox").waitFor();
      await page.keyboard.type("Hands off");
      await page.getByRole("option", { name: /Hands off/ }).waitFor();
      for (let n = 0; n < 12 && !(await page.getByRole("option", { name: /Hands off/, selected: true }).count()); n++) await page.keyboard.press("ArrowDown");
      await page.keyboard.press("Enter");
      await page.getByRole("heading", { name: "Hands off", exact: true }).waitFor();
      // Keys are the palette's as long as it is there.
      await page.waitForFunction(() => document.querySelector("dialog[open]") === null);
      const shown = await page.evaluate(() => document.querySelectorAll("aside.panel").length);
      await page.keyboard.press("Control+.");
      await page.waitForFunction((was) => document.querySelectorAll("aside.panel").length !== was, shown);
      await page.keyboard.press("Control+.");
      await page.waitForFunction((was) => document.querySelectorAll("aside.panel").length === was, shown);
      await leaveField(page);
      await page.keyboard.press("?");
      await page.getByRole("dialog", { name: "Keys" }).waitFor();
      await page.keyboard.press("Escape");
      await page.getByRole("dialog", { name: "Keys" }).waitFor({ state: "detached" });
      // Out again.
      await pressOn(page, "button", /Signed in as/);
      await page.getByRole("menuitem", { name: "Sign out" }).waitFor();
      for (let n = 0; n < 12 && !(await page.locator("[role=menuitem]:focus", { hasText: "Sign out" }).count()); n++) await page.keyboard.press("ArrowDown");
      await page.keyboard.press("Enter");
      await page.getByRole("heading", { name: "Sign in to Warren" }).waitFor();
      await assertNoPointer(page);
    },
  },
];
