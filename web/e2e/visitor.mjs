// Somebody in front of the page: signs in, looks, presses. Everything waits for what it needs and for nothing else.
import assert from "node:assert/strict";
import { extname, join } from "node:path";

/** What a browser itself says about answers that a story provokes. */
const EXPECTED = /Failed to load resource|net::ERR_|ERR_CONNECTION|ERR_NETWORK|ERR_INCOMPLETE/;

/** How long anything may take on a machine that is busy with other things. */
const WAIT_MS = Number(process.env.E2E_WAIT_MS ?? 90_000);

/** Shows the page of a directory under the server's own headers. */
async function showPage(context, directory) {
  const fromDisk = (path) => async (route) => {
    const name = path ?? new URL(route.request().url()).pathname;
    const answer = await route.fetch().catch(() => null);
    if (!answer) return route.abort();
    const { "content-length": _length, "content-encoding": _encoding, etag: _etag, ...headers } = answer.headers();
    const type = { ".js": "text/javascript", ".mjs": "text/javascript", ".css": "text/css", ".html": "text/html", ".svg": "image/svg+xml" }[extname(name)] ?? "application/octet-stream";
    return route.fulfill({ status: path ? answer.status() : 200, headers: { ...headers, "content-type": type, "cache-control": "no-cache" }, path: join(directory, name) });
  };
  const isPlace = (url) => !url.hostname.endsWith(".localhost") && /^\/($|sessions\/|board|overview|doctor|settings)/.test(url.pathname);
  await context.route(isPlace, fromDisk("index.html"));
  await context.route((url) => !url.hostname.endsWith(".localhost") && url.pathname.startsWith("/assets/"), fromDisk());
}

export class Visitor {
  #problems = [];
  #expected = [];

  constructor(context, page, base, server) {
    this.context = context;
    this.page = page;
    this.base = base;
    this.server = server;
  }

  /** Comes in with a token, unless told to stay outside. */
  static async come(browser, server, { token = server.token, base = server.url, outside = false, width = 1440, height = 900, theme = "light" } = {}) {
    const context = await browser.newContext({ viewport: { width, height }, colorScheme: theme, reducedMotion: "reduce" });
    await context.grantPermissions(["clipboard-read", "clipboard-write"], { origin: base });
    if (process.env.PAGE) await showPage(context, process.env.PAGE);
    const page = await context.newPage();
    page.setDefaultTimeout(WAIT_MS);
    const visitor = new Visitor(context, page, base, server);
    visitor.#listen(page);
    if (!outside) {
      const answer = await context.request.post(`${base}/api/auth/sign-in`, { data: { token }, headers: { origin: base } });
      assert.equal(answer.status(), 200, await answer.text());
      await page.goto(`${base}/`);
    }
    return visitor;
  }

  /** Another tab of the same browser. */
  async tab(path) {
    const page = await this.context.newPage();
    page.setDefaultTimeout(WAIT_MS);
    const visitor = new Visitor(this.context, page, this.base, this.server);
    visitor.#problems = this.#problems;
    visitor.#listen(page);
    await page.goto(this.base + path);
    return visitor;
  }

  #listen(page) {
    page.on("console", (message) => {
      if (this.#expected.some((pattern) => pattern.test(message.text()))) return;
      if (message.type() === "error" && !EXPECTED.test(message.text())) this.#problems.push(`console: ${message.text()}`);
      if (/Content Security Policy/i.test(message.text())) this.#problems.push(`policy: ${message.text()}`);
    });
    page.on("pageerror", (error) => this.#problems.push(`page: ${error.stack ?? error.message}`));
  }

  /** What the browser will say about a refusal that the story provokes. */
  expects(pattern) {
    this.#expected.push(pattern);
  }

  /** No script failed, and the page's policy had nothing to refuse. */
  assertClean() {
    assert.deepEqual(this.#problems, []);
  }

  /** What a failure leaves to look at. */
  async report(path) {
    await this.page.screenshot({ path, timeout: 10_000 }).catch(() => {});
    return `picture: ${path}\nproblems: ${JSON.stringify(this.#problems)}`;
  }

  leave() {
    return this.context.close();
  }

  // What a person does.

  /** Starts a session with this message by the start page, and gives its id. */
  async start(text, { agent, asks = false, name } = {}) {
    const { page } = this;
    if (new URL(page.url()).pathname !== "/") await page.goto(`${this.base}/`);
    if (agent) await page.getByRole("radio", { name: agent }).click();
    if (asks) {
      await page.getByRole("button", { name: /^Permissions:/ }).click();
      await page.getByRole("menuitemradio", { name: "Ask before acting" }).click();
    }
    if (name) await page.getByLabel("Session name").fill(name);
    await page.getByLabel("First message").fill(text);
    await page.getByRole("button", { name: /^(Start|Install and start)/ }).click();
    await page.waitForURL(/\/sessions\//);
    return this.sessionId();
  }

  sessionId() {
    return new URL(this.page.url()).pathname.split("/")[2];
  }

  async send(text, how = "Enter") {
    await this.page.getByLabel("Message", { exact: true }).fill(text);
    await this.page.keyboard.press(how);
  }

  /** Goes to the agent's request by its key, and waits until it can be answered. */
  async toRequest() {
    await this.page.locator("[data-approval] [data-answers][aria-disabled=false]").first().waitFor();
    await this.page.locator("section.chat .scroll").focus();
    await this.page.keyboard.press("Alt+a");
    await this.page.waitForFunction(() => document.activeElement?.hasAttribute("data-approval"));
  }

  /**
   * Waits until nothing runs: here, and at the server, because a page that was just opened has seen no run yet. `nRuns`: how
   * many runs there are by then at least, for a message that was just sent.
   */
  async idle(nRuns = 1) {
    const id = this.sessionId();
    const settled = async () => {
      const { runs } = await this.server.api(`/api/sessions/${id}/runs`);
      return runs.length >= nRuns && runs.every((run) => !["queued", "running"].includes(run.status));
    };
    const until = Date.now() + WAIT_MS;
    while (!(await settled()) && Date.now() < until) await new Promise((again) => setTimeout(again, 100));
    await this.page.locator(".top .state.idle, .top .state.fail").waitFor();
  }

  async running() {
    await this.page.locator(".top .state.run, .top .state.wait").waitFor();
  }

  log() {
    return this.page.getByRole("log", { name: "Messages" });
  }

  /** The page shows these words in the conversation. */
  async sees(text) {
    await this.log().getByText(text, { exact: false }).first().waitFor();
  }

  /** Keys of all rows, or of those of a kind, from the first to the last, by scrolling through them. */
  async allKeys(kind) {
    return this.page.evaluate(async (kind) => {
      const box = document.querySelector("section.chat .scroll");
      const keys = [];
      const frame = () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
      // What is older loads when the reader comes near it.
      while (box.querySelector(".earlier")) {
        box.scrollTop = 0;
        await frame();
      }
      for (let top = 0; ; top += box.clientHeight / 2) {
        box.scrollTop = top;
        await frame();
        for (const row of box.querySelectorAll(`[role=log] > [data-key]${kind ? `[data-kind=${kind}]` : ""}`)) if (!keys.includes(row.dataset.key)) keys.push(row.dataset.key);
        if (top >= box.scrollHeight) return keys;
      }
    }, kind);
  }
}
