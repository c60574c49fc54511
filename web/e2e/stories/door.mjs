import assert from "node:assert/strict";
import { faults } from "../axe.mjs";

export const STORIES = [
  {
    name: "a stranger signs in with a token, and a wrong one is told why",
    async tell({ server, visit }) {
      const { page } = await visit({ outside: true });
      await page.goto(server.url);
      await page.getByRole("heading", { name: "Sign in to Warren" }).waitFor();
      assert.deepEqual(await faults(page), []);
      await page.getByLabel("Token").fill("wrn_not_a_token");
      await page.keyboard.press("Enter");
      await page.getByRole("alert").getByText("warren tokens create").waitFor();
      await page.getByLabel("Token").fill(server.token);
      await page.keyboard.press("Enter");
      await page.getByRole("heading", { name: "What shall we build?" }).waitFor();
      await page.reload();
      await page.getByRole("heading", { name: "What shall we build?" }).waitFor();
      await page.getByRole("button", { name: /Signed in as/ }).click();
      await page.getByRole("menuitem", { name: "Sign out" }).click();
      await page.getByRole("heading", { name: "Sign in to Warren" }).waitFor();
    },
  },
  {
    name: "the printed link signs in, once",
    async tell({ server, visit }) {
      const { page } = await visit({ outside: true });
      const link = await server.api("/api/auth/link", { method: "POST" });
      await page.goto(server.url + link.path);
      await page.goto(server.url);
      await page.getByRole("heading", { name: "What shall we build?" }).waitFor();
      const other = await visit({ outside: true });
      await other.page.goto(server.url + link.path);
      await other.page.goto(server.url);
      await other.page.getByRole("heading", { name: "Sign in to Warren" }).waitFor();
    },
  },
];
