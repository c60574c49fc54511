import assert from "node:assert/strict";
import { join } from "node:path";
import { faults } from "../axe.mjs";
import { provider } from "../provider.mjs";

const KEY = "sk-story-0123456789abcd";

export const STORIES = [
  {
    name: "a key is added and tested in the settings, and a model of its provider is chosen and answers",
    async tell({ server, visit, pictures }) {
      const models = await provider(KEY);
      try {
        await tellWith({ server, visit, pictures, models });
      } finally {
        // Whoever comes next has the demo model again.
        await server.api("/api/providers/anthropic", { method: "DELETE" }).catch(() => {});
        await models.end();
      }
    },
  },
];

async function tellWith({ server, visit, pictures, models }) {
  const person = await visit();
  const { page } = person;
  const shot = async (name) => pictures && (await page.screenshot({ path: join(pictures, `keys-${name}.png`) }));
  await page.goto(`${server.url}/settings`);
  const box = page.getByRole("region", { name: "Models and keys" });
  await box.getByText("none: only the demo model answers").first().waitFor();

  // A wrong key is told as such.
  await box.getByRole("button", { name: "Add key of Anthropic" }).click();
  const form = page.getByRole("dialog", { name: "Add the key of Anthropic" });
  await form.getByLabel("API key").fill("sk-story-wrong-0000000");
  await form.getByLabel("Base URL").fill("http://10.0.0.1");
  await page.keyboard.press("Enter");
  await form.getByRole("alert").getByText("allowed on this machine only").waitFor();
  await form.getByLabel("Base URL").fill(models.url);
  assert.deepEqual(await faults(page), []);
  await shot("form");
  await page.keyboard.press("Enter");
  await box.getByText("Wrong key").waitFor();
  assert.deepEqual(await faults(page), []);
  await shot("wrong");

  // The right one, by the keyboard alone.
  await box.getByRole("button", { name: "Replace the key of Anthropic" }).focus();
  await page.keyboard.press("Enter");
  const again = page.getByRole("dialog", { name: "Replace the key of Anthropic" });
  await again.waitFor();
  await page.keyboard.type(KEY);
  await page.keyboard.press("Enter");
  await box.getByText("OK, 2 models").waitFor();
  await box.getByText("ends in abcd, stored here").waitFor();
  assert.ok(!(await page.content()).includes("0123456789"), "the key is not shown again");
  assert.deepEqual(await faults(page), []);
  await shot("ok");

  // The model is searched for and taken by the keyboard.
  await page.goto(`${server.url}/`);
  await page.getByTitle("Choose the model").click();
  const dialog = page.getByRole("dialog", { name: "Model" });
  await dialog.getByRole("option", { name: /claude-story-small/ }).waitFor();
  assert.deepEqual(await faults(page), []);
  await shot("models");
  await page.keyboard.type("nobodys-model");
  await dialog.getByRole("status").getByText("No provider lists this model").waitFor();
  await page.keyboard.press("Control+a");
  await page.keyboard.type("story");
  await page.keyboard.press("ArrowDown");
  assert.match(await dialog.locator("[role=option][aria-selected=true]").textContent(), /claude-story-small/);
  await page.keyboard.press("Enter");
  await dialog.waitFor({ state: "detached" });
  const session = await person.start("Say hello");
  await person.sees("Hello from claude-story-small.");
  assert.deepEqual([...new Set(models.asked)], ["claude-story-small"]);
  assert.equal((await server.api(`/api/sessions/${session}`)).options.model, "claude-story-small");

  // Another one for the next message.
  await page.getByTitle("Change the model").click();
  await dialog.getByRole("option", { name: /claude-story-large/ }).click();
  await dialog.waitFor({ state: "detached" });
  await person.send("And once more");
  await person.sees("Hello from claude-story-large.");
  assert.equal(models.asked.at(-1), "claude-story-large");

  if (pictures) await look({ server, visit, pictures });

  // Without the key the demo model answers again, and the page says so.
  await page.goto(`${server.url}/settings`);
  await box.getByRole("button", { name: "Remove the key of Anthropic" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Remove" }).click();
  await box.getByText("stored here").waitFor({ state: "detached" });
  await page.goto(`${server.url}/`);
  await page.getByRole("note").getByText("the demo model will answer").waitFor();
}

/** Pictures in the dark and on a phone. */
async function look({ server, visit, pictures }) {
  for (const [name, options] of Object.entries({ dark: { theme: "dark" }, phone: { width: 400, height: 860 }, "phone-dark": { width: 400, height: 860, theme: "dark" } })) {
    const { page } = await visit(options);
    await page.goto(`${server.url}/settings`);
    const box = page.getByRole("region", { name: "Models and keys" });
    await box.getByRole("button", { name: "Test Anthropic" }).click();
    await box.getByText("OK, 2 models").waitFor();
    assert.deepEqual(await faults(page), []);
    await page.screenshot({ path: join(pictures, `keys-settings-${name}.png`) });
    await page.goto(`${server.url}/`);
    await page.getByTitle("Choose the model").click();
    await page.getByRole("option", { name: /claude-story-small/ }).waitFor();
    assert.deepEqual(await faults(page), []);
    await page.screenshot({ path: join(pictures, `keys-models-${name}.png`) });
  }
}
