import assert from "node:assert/strict";
import { join } from "node:path";
import { faults } from "../axe.mjs";

/** A story for servers that have these routes: one without them says so instead of failing elsewhere. */
const needing = (paths, tell) => async (scene) => {
  const { paths: known } = await (await fetch(`${scene.server.url}/openapi.json`)).json();
  const bare = (path) => path.replaceAll(/\{\w+\}/g, "{}");
  const routes = new Set(Object.keys(known).map(bare));
  const missing = paths.filter((path) => !routes.has(bare(`/api/sessions/{id}/${path}`)));
  return missing.length ? { skipped: `this server has no ${missing.join(", ")}` } : tell(scene);
};

/** An app with a script that tries to reach the page around it. */
const APP = [
  "run: mkdir -p outputs/app && cd outputs/app",
  `printf '{"artifacts":[{"type":"web_app","name":"Clock","path":"app","command":"python3 -m http.server $PORT --bind 127.0.0.1"}]}' > ../manifest.json`,
  `printf '<!doctype html><title>Clock</title><link rel=stylesheet href=style.css><body><p id=p></p><script src=clock.js></script>' > index.html`,
  `printf 'p.textContent = "it works, on " + location.host; document.body.dataset.origin = location.origin; try { parent.window.pwned = 1; document.body.dataset.parent = "reached"; } catch { document.body.dataset.parent = "refused"; }' > clock.js`,
  `printf 'p { color: rebeccapurple }' > style.css`,
].join(" && ");

const tab = (page, name) => page.getByRole("tab", { name: new RegExp(`^${name}`) }).click();

export const STORIES = [
  {
    name: "what an agent made appears beside the conversation and is previewed on a host of its own",
    tell: needing(["artifacts", "artifacts/{artifactId}/preview"], async ({ visit, pictures }) => {
      const person = await visit();
      const { page } = person;
      await person.start("Build me a dashboard of our sales");
      const shelf = page.getByRole("tablist", { name: "Artifacts of this session" });
      await shelf.getByRole("tab", { name: /sales\.csv/ }).click();
      await page.getByRole("tabpanel").getByText("North").first().waitFor();
      await person.idle();
      // What the run left stands in the conversation too, and opens beside it.
      await person.log().getByRole("group", { name: "Made in this run" }).getByRole("button", { name: /index\.html|dashboard/ }).click();
      const frame = page.locator("iframe.preview");
      await frame.contentFrame().getByText("Revenue by month", { exact: false }).first().waitFor();
      assert.notEqual(new URL(await frame.getAttribute("src"), page.url()).host, new URL(page.url()).host);
      assert.deepEqual(await faults(page), []);
      if (pictures) await page.screenshot({ path: join(pictures, "artifact.png") });
    }),
  },
  {
    name: "a web app that an agent made is started when somebody looks, runs on a host of its own, and can be read",
    tell: needing(["artifacts", "artifacts/{artifactId}/preview"], async ({ visit }) => {
      const person = await visit();
      const { page } = person;
      await person.start(APP);
      await person.idle();
      await page.getByRole("tablist", { name: "Artifacts of this session" }).getByRole("tab", { name: /Clock/ }).click();
      const frame = page.locator("iframe.preview");
      await frame.contentFrame().getByText("it works, on", { exact: false }).waitFor();
      // Its script ran, there and not here.
      const origin = await frame.contentFrame().locator("body").getAttribute("data-origin");
      assert.match(origin, /^http:\/\/[^/]+\.localhost:\d+$/);
      assert.notEqual(origin, new URL(page.url()).origin);
      assert.equal(await page.evaluate(() => "pwned" in window), false);
      assert.equal(await frame.contentFrame().locator("body").getAttribute("data-parent"), "refused");
      await page.getByRole("button", { name: "Code", exact: true }).click();
      await page.locator(".app-code .code").getByText("clock.js", { exact: false }).first().waitFor();
      await page.getByRole("group", { name: "Files of the app" }).getByRole("button", { name: "style.css" }).click();
      await page.locator(".app-code .code").getByText("rebeccapurple", { exact: false }).waitFor();
      assert.deepEqual(await faults(page), []);
    }),
  },
  {
    name: "a file is uploaded with a message and read by the agent; another is edited by hand",
    tell: needing(["fs", "fs/upload"], async ({ server, visit }) => {
      const person = await visit();
      const { page } = person;
      const id = await person.start("create file notes.md with a haiku");
      await person.idle();
      await page.getByLabel("Files to attach").setInputFiles({ name: "hello.txt", mimeType: "text/plain", buffer: Buffer.from("hello from the page\n") });
      await page.getByRole("list", { name: "Attachments" }).getByText("20 B").waitFor();
      await person.send("run: cat /user-input/hello.txt; true");
      await person.sees("hello from the page");
      await person.idle();
      await tab(page, "Files");
      await page.getByRole("treeitem", { name: /notes\.md/ }).click();
      await page.getByRole("button", { name: "Edit", exact: true }).click();
      await page.getByLabel("Text of notes.md").fill("edited by hand\n");
      await page.getByRole("button", { name: "Save", exact: true }).click();
      await page.getByRole("region", { name: "notes.md" }).getByText("edited by hand").waitFor();
      const response = await fetch(`${server.url}/api/sessions/${id}/fs/read?path=notes.md`, { headers: { authorization: `Bearer ${server.token}` } });
      assert.equal(await response.text(), "edited by hand\n");
      assert.deepEqual(await faults(page), []);
    }),
  },
  {
    name: "versions are compared, forked, gone back to and replayed",
    tell: needing(["versions", "fork", "restore", "runs/{runId}/replay"], async ({ server, visit, pictures }) => {
      const person = await visit();
      const { page } = person;
      const id = await person.start("create file notes.md with a haiku", { name: "Original" });
      await person.idle();
      await person.send("run: echo more >> notes.md");
      await person.sees("Saved v2");
      // The line in the conversation leads to its version, and again after another was looked at.
      for (const version of [1, 2]) {
        await person.log().getByRole("button", { name: `Diff of v${version}` }).click();
        await page.getByRole("button", { name: new RegExp(`^Version ${version}:`), pressed: true }).waitFor();
      }
      await page.getByRole("region", { name: "Changes to notes.md" }).getByText("more").waitFor();
      assert.deepEqual(await faults(page), []);
      if (pictures) await page.screenshot({ path: join(pictures, "versions.png") });
      await page.getByRole("button", { name: "Replay", exact: true }).click();
      await page.getByRole("button", { name: /same/i }).first().waitFor();
      // What is in no version is opened, compared with the latest one, and saved with a label; it is the same after a reload.
      await server.put(id, "notes.md", "changed by hand\n");
      await server.api(`/api/sessions/${id}/fs/move`, { method: "POST", body: { from: "notes.md", to: "renamed.md" } });
      await server.put(id, "notes.md", "changed by hand\n");
      await page.getByRole("tab", { name: /^Files\s*2 changed$/ }).waitFor();
      await page.reload();
      await page.getByRole("tab", { name: /^Files\s*2 changed$/ }).waitFor();
      await page.getByRole("button", { name: "Not saved: changes since version 2" }).click();
      const unsaved = page.getByRole("region", { name: "Not saved" });
      await unsaved.getByRole("button", { name: "created renamed.md" }).click();
      await unsaved.getByRole("region", { name: "renamed.md since version 2" }).getByText("changed by hand").waitFor();
      assert.deepEqual(await faults(page), []);
      await page.getByRole("button", { name: "Save version…" }).click();
      await page.getByRole("dialog", { name: "Save a version" }).getByLabel("Label (optional)").fill("by hand");
      await page.getByRole("dialog", { name: "Save a version" }).getByRole("button", { name: "Save version" }).click();
      await page.getByRole("button", { name: "Version 3: by hand" }).waitFor();
      await page.getByRole("tab", { name: "Files", exact: true }).waitFor();
      // A restore says which uploads go with it, also those that no version has yet.
      await server.put(id, "/user-input/figures.csv", "a,b\n");
      await page.getByRole("tab", { name: /^Files/ }).click();
      await page.getByRole("tree", { name: "Uploads" }).getByRole("treeitem", { name: /figures\.csv/ }).click();
      await page.getByRole("region", { name: "/user-input/figures.csv" }).first().waitFor();
      await page.getByRole("tab", { name: /^Versions/ }).click();
      await page.getByRole("button", { name: /^Version 1:/ }).click();
      await page.getByRole("button", { name: "Restore" }).click();
      const asked = page.getByRole("dialog", { name: "Restore v1?" });
      assert.equal(await asked.getByRole("group", { name: "Uploads that are removed" }).getByRole("listitem").innerText(), "figures.csv");
      assert.deepEqual(await faults(page), []);
      await asked.getByRole("button", { name: "Restore v1" }).click();
      // What was there is kept as v4, and v5 is v1 once more.
      await page.getByRole("button", { name: "Version 5: Restored v1" }).waitFor();
      const notes = await server.api(`/api/sessions/${id}/versions/5/diff?against=1`);
      assert.deepEqual(notes.files, []);
      // The conversation marks what the agent does not remember, and the removed file is not open any more.
      const told = async () => {
        await person.sees("Restored v1 as v5");
        await person.sees("Not in the agent’s memory, from here to Restored v1.");
        const said = (await person.log().locator(".forgotten").allInnerTexts()).join(" ");
        assert.match(said, /echo more/);
        assert.doesNotMatch(said, /haiku/);
        await page.getByRole("tab", { name: /^Files/ }).click();
        await page.getByRole("treeitem", { name: /notes\.md/ }).waitFor();
        assert.equal(await page.getByRole("region", { name: "/user-input/figures.csv" }).count(), 0);
        assert.equal(await page.getByRole("tree", { name: "Uploads" }).count(), 0);
        assert.deepEqual(await faults(page), []);
      };
      await told();
      await page.reload();
      await told();
      // A fork, by the line in the conversation.
      await page.getByRole("button", { name: "Fork from v2" }).first().click();
      const dialog = page.getByRole("dialog", { name: "Fork" });
      await dialog.getByLabel("Name").fill("Branch");
      await dialog.getByRole("button", { name: "Fork" }).click();
      await page.getByRole("heading", { name: "Branch" }).waitFor();
      const fork = await server.api(`/api/sessions/${person.sessionId()}`);
      assert.deepEqual(fork.forkedFrom, { sessionId: id, version: 2 });
      await page.getByRole("navigation", { name: "Session list" }).locator(".kids").getByText("Branch").waitFor();
      await person.sees("create file notes.md with a haiku");
    }),
  },
  {
    name: "overview, doctor and settings say what the server found, and have no serious fault",
    async tell({ server, visit }) {
      const { page } = await visit();
      for (const path of ["/overview", "/doctor", "/settings"]) {
        await page.goto(new URL(path, page.url()).href);
        await page.locator("main h1").first().waitFor();
        await page.locator(".skel").first().waitFor({ state: "detached" });
        assert.deepEqual(await faults(page), [], path);
      }
      // What the doctor says is what the server found.
      const { isolation: probe, agents, models } = await server.api("/api/doctor");
      assert.equal(probe.usable, true);
      await page.goto(new URL("/doctor", page.url()).href);
      const doctor = page.locator("#doctor");
      await doctor.getByText(/[1-8] of 8 guards in force/).waitFor();
      await doctor.getByText(`${probe.backend} ${probe.version}`, { exact: true }).waitFor();
      for (const { problem, hint } of probe.hints) {
        await doctor.getByText(problem).first().waitFor();
        await doctor.getByText(`Fix: ${hint}`).first().waitFor();
      }
      assert.ok(models.length > 0 && agents.includes("builtin"));
      const called = { OpenAiChat: "OpenAI chat", OpenAiResponses: "OpenAI responses" };
      for (const model of models) await doctor.getByText(`Model calls, ${called[model.format] ?? model.format}`).waitFor();
      await doctor.getByText("demo model: no API key").first().waitFor();
      // The same warnings with the same fixes as `warren doctor` has.
      await doctor.getByText("no API key for Anthropic: only the demo model answers, with scripted replies").waitFor();
      await doctor.getByText("Fix: add one in the page under Settings or with `warren keys set anthropic`, or set ANTHROPIC_API_KEY and restart `warren up`").waitFor();
      const { agents: all } = await server.api("/api/agents");
      const names = (await doctor.getByText("Agents installed").locator("xpath=..").innerText()).includes("Gemini CLI");
      assert.equal(names, all.find((agent) => agent.name === "gemini-cli").ready, "only installed agents are listed as installed");
      await page.goto(new URL("/board", page.url()).href);
      for (const title of ["Needs you", "Running", "Done"]) await page.getByRole("region", { name: title }).waitFor();
      assert.equal(await page.title(), "Board · Warren");
      assert.deepEqual(await faults(page), []);
      await page.goto(new URL("/overview", page.url()).href);
      await page.locator("#doctor").getByText(/[1-8] of 8 guards in force/).waitFor();
    },
  },
];
