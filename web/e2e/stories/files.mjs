// A person's own work on files: made, renamed, moved, edited, deleted.
import assert from "node:assert/strict";
import { faults } from "../axe.mjs";

const tab = (page, name) => page.getByRole("tab", { name: new RegExp(`^${name}`) }).click();
const row = (page, name) => page.getByRole("tree", { name: "Workspace" }).getByRole("treeitem", { name });
const dialog = (page, name) => page.getByRole("dialog", { name });

/** All paths of a session's workspace, folders with a slash. */
async function paths(server, id, folder = "") {
  const { entries } = await server.api(`/api/sessions/${id}/fs?path=${encodeURIComponent(folder)}`);
  const inner = await Promise.all(entries.map(async (entry) => (entry.kind === "directory" ? [`${entry.path}/`, ...(await paths(server, id, entry.path))] : [entry.path])));
  return inner.flat().sort();
}

/** Waits until the server has exactly these. */
async function has(page, server, id, expected) {
  for (let n = 0; n < 100; n++) {
    if (JSON.stringify(await paths(server, id)) === JSON.stringify(expected)) return;
    await page.waitForTimeout(100);
  }
  assert.deepEqual(await paths(server, id), expected);
}

export const STORIES = [
  {
    name: "files and folders are made, renamed, moved, dragged and deleted, by mouse and by keys, also after the sandbox slept",
    async tell({ server, visit }) {
      const person = await visit();
      const { page } = person;
      const id = await person.start("run: mkdir -p docs && echo one > docs/one.txt && echo two > two.txt");
      await person.idle();
      await server.api(`/api/sessions/${id}/sandbox/stop`, { method: "POST", body: {} });
      await tab(page, "Files");
      // Made, with its folder, and written at once.
      await page.getByRole("button", { name: "File", exact: true }).click();
      await dialog(page, "New file").getByLabel("Name").fill("two.txt");
      await page.keyboard.press("Enter");
      await dialog(page, "New file").getByText("already exists here").waitFor();
      await dialog(page, "New file").getByLabel("Name").fill("notes/today.md");
      assert.deepEqual(await faults(page), []);
      await page.keyboard.press("Enter");
      const text = page.getByRole("textbox", { name: "Text of notes/today.md" });
      await text.fill("# Today\n");
      await page.keyboard.press("Control+s");
      // Saved, and the next words still go into the text.
      await page.getByText("Saved.", { exact: true }).waitFor();
      await page.keyboard.type("and now more");
      await page.keyboard.press("Control+s");
      await page.getByText("Saved.", { exact: true }).waitFor();
      assert.equal(await page.getByText("This file was changed after you began").count(), 0);
      await page.keyboard.press("Escape");
      await page.getByRole("heading", { name: "Today" }).waitFor();
      await page.getByText("and now more").first().waitFor();
      await has(page, server, id, ["docs/", "docs/one.txt", "notes/", "notes/today.md", "outputs/", "two.txt"]);
      // A folder, and a file dragged into it.
      await page.getByRole("button", { name: "Folder", exact: true }).click();
      await dialog(page, "New folder").getByLabel("Name").fill("old");
      await page.keyboard.press("Enter");
      await row(page, /^old/).waitFor();
      await row(page, /two\.txt/).dragTo(row(page, /^old/));
      await page.getByText("Moved two.txt").waitFor();
      await has(page, server, id, ["docs/", "docs/one.txt", "notes/", "notes/today.md", "old/", "old/two.txt", "outputs/"]);
      // By keys: renamed, moved with its open file, deleted.
      await row(page, /^docs/).focus();
      await page.keyboard.press("F2");
      await dialog(page, "Rename docs").waitFor();
      await page.keyboard.type("papers");
      await page.keyboard.press("Enter");
      await page.waitForFunction(() => document.activeElement?.dataset.path === "papers");
      await row(page, /^notes/).focus();
      await page.keyboard.press("Shift+F10");
      await page.getByRole("menuitem", { name: /Move/ }).waitFor();
      assert.deepEqual(await faults(page), []);
      await page.keyboard.press("m");
      await page.keyboard.press("Enter");
      await dialog(page, "Move notes").getByRole("button", { name: "papers" }).focus();
      await page.keyboard.press("Enter");
      await dialog(page, "Move notes").getByText("No folders in here").waitFor();
      assert.deepEqual(await faults(page), []);
      await dialog(page, "Move notes").getByRole("button", { name: "Move here" }).focus();
      await page.keyboard.press("Enter");
      await page.getByRole("region", { name: "papers/notes/today.md" }).first().waitFor();
      await page.waitForFunction(() => document.activeElement?.dataset.path === "papers/notes");
      await row(page, /^old/).focus();
      await page.keyboard.press("Delete");
      await dialog(page, "Delete old?").waitFor();
      assert.deepEqual(await faults(page), []);
      await dialog(page, "Delete old?").getByRole("button", { name: "Delete" }).focus();
      await page.keyboard.press("Enter");
      await row(page, /^old/).waitFor({ state: "detached" });
      await has(page, server, id, ["outputs/", "papers/", "papers/notes/", "papers/notes/today.md", "papers/one.txt"]);
      // Whoever looks elsewhere sees it too, and the agent finds it so.
      const second = await person.tab(`/sessions/${id}?tab=files`);
      await row(second.page, /^papers/).waitFor();
      await person.send("run: cat papers/notes/today.md");
      await person.sees("# Today");
    },
  },
  {
    name: "an edit that is not saved survives another file, another tab and a reload, and is never saved over somebody else's",
    async tell({ server, visit }) {
      const person = await visit();
      const { page } = person;
      const id = await person.start("run: mkdir deep && echo a > deep/a.ts && echo b > b.txt");
      await person.idle();
      await tab(page, "Files");
      await row(page, /^deep/).click();
      await row(page, /a\.ts/).click();
      await page.getByRole("button", { name: "Edit", exact: true }).click();
      const text = page.getByRole("textbox", { name: "Text of deep/a.ts" });
      await text.fill("const mine = 1;\n");
      await page.getByText("Unsaved edits in deep/a.ts. The agent does not see them until you save.").waitFor();
      // Another file, then another tab of the panel.
      await row(page, /b\.txt/).click();
      await page.getByRole("region", { name: "b.txt" }).first().waitFor();
      await row(page, /a\.ts.*not saved/).waitFor();
      await tab(page, "Versions");
      await tab(page, "Files");
      await page.getByRole("region", { name: "b.txt" }).first().waitFor();
      await page.getByRole("group", { name: "Unsaved edits" }).getByRole("button", { name: "a.ts" }).click();
      await text.getByText("const mine = 1;").waitFor();
      // A reload: the file, the folders and the text are as they were.
      await page.reload();
      await text.getByText("const mine = 1;").waitFor();
      await row(page, /a\.ts.*not saved/).waitFor();
      assert.deepEqual(await faults(page), []);
      // Somebody else wrote meanwhile.
      await server.put(id, "deep/a.ts", "const theirs = 2;\n");
      await page.getByText("changed after you started editing").waitFor();
      await page.getByRole("button", { name: "Save", exact: true }).click();
      await page.getByText("nothing was saved").waitFor();
      assert.equal((await server.file(id, "deep/a.ts")).toString(), "const theirs = 2;\n");
      await page.getByRole("button", { name: "Cancel", exact: true }).click();
      await dialog(page, "Discard your changes?").getByRole("button", { name: "Cancel" }).click();
      await text.getByText("const mine = 1;").waitFor();
      await page.getByRole("button", { name: "Overwrite" }).click();
      await text.waitFor({ state: "detached" });
      assert.equal((await server.file(id, "deep/a.ts")).toString(), "const mine = 1;\n");
      // Discarded for good when somebody says so.
      await page.getByRole("button", { name: "Edit", exact: true }).click();
      await text.fill("const never = 3;\n");
      await page.getByRole("button", { name: "Cancel", exact: true }).click();
      await dialog(page, "Discard your changes?").getByRole("button", { name: "Discard" }).click();
      await text.waitFor({ state: "detached" });
      await page.reload();
      await page.locator(".code").getByText("const mine = 1;").waitFor();
      // A file that was written meanwhile is not deleted unseen either.
      await page.route(/\/fs\?path=deep$/, (route) => route.abort());
      await server.put(id, "deep/a.ts", "const later = 4;\n");
      await row(page, /a\.ts/).focus();
      await page.keyboard.press("Delete");
      await dialog(page, /^Delete a\.ts/).getByRole("button", { name: "Delete" }).click();
      await dialog(page, /^Delete a\.ts/).getByText("was not deleted").waitFor();
      await dialog(page, /^Delete a\.ts/).getByRole("button", { name: "Delete" }).click();
      await dialog(page, /^Delete a\.ts/).waitFor({ state: "detached" });
      assert.deepEqual(await paths(server, id), ["b.txt", "deep/", "outputs/"]);
    },
  },
  {
    name: "uploads are a part of the files: shown, opened and deleted, and a name that is taken is named",
    async tell({ server, visit }) {
      const person = await visit();
      const { page } = person;
      const id = await person.start("count to 3");
      await person.idle();
      await tab(page, "Files");
      const pane = page.getByRole("tabpanel");
      const file = (name, text) => ({ name, mimeType: "text/plain", buffer: Buffer.from(text) });
      await pane.locator("input[type=file]").setInputFiles([file("sales.csv", "a,b\n1,2\n"), file("rota.txt", "early\n")]);
      const uploads = page.getByRole("tree", { name: "Uploads" });
      await uploads.getByRole("treeitem", { name: /rota\.txt/ }).click();
      await page.getByRole("region", { name: "/user-input/rota.txt" }).first().getByText("early").waitFor();
      assert.deepEqual(await faults(page), []);
      await pane.locator("input[type=file]").setInputFiles([file("sales.csv", "other\n"), file("new.txt", "new\n")]);
      await pane.getByRole("alert").getByText("sales.csv already exists").waitFor();
      await pane.getByRole("alert").getByRole("button", { name: "Keep both" }).click();
      await uploads.getByRole("treeitem", { name: /sales \(2\)\.csv/ }).waitFor();
      await uploads.getByRole("treeitem", { name: /sales\.csv/ }).hover();
      await uploads.getByRole("button", { name: "Actions for sales.csv" }).click();
      await page.getByRole("menuitem", { name: /Delete/ }).click();
      await dialog(page, "Delete sales.csv?").getByRole("button", { name: "Delete" }).click();
      await uploads.getByRole("treeitem", { name: /sales\.csv/ }).waitFor({ state: "detached" });
      const { entries } = await server.api(`/api/sessions/${id}/fs?path=/user-input`);
      assert.deepEqual(entries.map((entry) => entry.name), ["new.txt", "rota.txt", "sales (2).csv"]);
    },
  },
];
