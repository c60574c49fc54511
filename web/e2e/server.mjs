// The real server in a directory of its own, and a wire to it that can be cut.
import { spawn, spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { createServer, connect } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const BINARY = process.env.WARREN_BIN ?? fileURLToPath(new URL("../../target/debug/warren", import.meta.url));

/** Programs of agents are large: they are kept between runs, where the other tests keep them too. */
const AGENTS = process.env.WARREN_TEST_AGENTS ?? join(dirname(dirname(BINARY)), "agents");

/** Where Debian puts LibreOffice. */
const OFFICE = "/usr/lib/libreoffice";

/** A server that can be killed and started again on its own port and data. */
export class Server {
  #dir = mkdtempSync(join(tmpdir(), "warren-e2e-"));
  /** Nothing is there until a story needs it: what the page draws by itself is seen without a conversion. */
  #office = join(this.#dir, "office");
  /** Sessions of stories begin with nothing: an empty directory is their template. */
  #nothing = mkdtempSync(join(tmpdir(), "warren-e2e-nothing-"));
  #child = null;
  #errors = "";
  port = 0;
  token = "";

  static async start() {
    if (!existsSync(BINARY)) throw new Error(`there is no server at ${BINARY}: build it, or set WARREN_BIN`);
    const server = new Server();
    await server.begin();
    return server;
  }

  get url() {
    return `http://127.0.0.1:${this.port}`;
  }

  /** Starts it; after the first time on the port it had. */
  async begin() {
    const child = spawn(BINARY, ["--dir", this.#dir, "up", "--listen", `127.0.0.1:${this.port}`, "--json"], { env: this.#env(), stdio: ["ignore", "pipe", "pipe"] });
    this.#child = child;
    child.stderr.on("data", (data) => (this.#errors = (this.#errors + data).slice(-20_000)));
    const line = await new Promise((done, failed) => {
      let said = "";
      child.stdout.on("data", (data) => {
        said += data;
        if (said.includes("\n")) done(said.split("\n")[0]);
      });
      child.once("exit", (code) => failed(new Error(`the server ended with ${code}: ${this.#errors}`)));
    });
    const { url, token } = JSON.parse(line);
    this.port = Number(new URL(url).port);
    this.token = token ?? this.token;
  }

  /** Starts it again if a story that failed left it dead. */
  async revive() {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) await this.begin();
  }

  /** Erases all sessions, so that a story which is told again meets none of those that it made. */
  async clear() {
    for (;;) {
      const { sessions } = await this.api("/api/sessions?limit=100");
      if (sessions.length === 0) return;
      for (const { sessionId } of sessions) await this.api(`/api/sessions/${sessionId}`, { method: "DELETE" });
    }
  }

  /** Ends it as a crash does. */
  async kill() {
    const child = this.#child;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const gone = new Promise((done) => child.once("exit", done));
    child.removeAllListeners("exit");
    child.once("exit", () => {});
    child.kill("SIGKILL");
    await Promise.race([gone, new Promise((done) => child.once("close", done))]);
  }

  /** Ends it in good order and removes what it kept. */
  async end() {
    const child = this.#child;
    if (child && child.exitCode === null && child.signalCode === null) {
      const gone = new Promise((done) => child.once("close", done));
      child.kill("SIGTERM");
      const late = setTimeout(() => child.kill("SIGKILL"), 10_000);
      await gone;
      clearTimeout(late);
    }
    rmSync(this.#dir, { recursive: true, force: true, maxRetries: 5 });
    rmSync(this.#nothing, { recursive: true, force: true });
  }

  /** What it wrote to its error stream, for a failure's report. */
  get errors() {
    return this.#errors;
  }

  async api(path, { method = "GET", body, token = this.token } = {}) {
    const headers = { authorization: `Bearer ${token}`, ...(body === undefined ? {} : { "content-type": "application/json" }) };
    const response = await fetch(this.url + path, { method, headers, body: body === undefined ? undefined : JSON.stringify(body) });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
    return text ? JSON.parse(text) : null;
  }

  /** A file of a session, as bytes. */
  async file(session, path) {
    const response = await fetch(`${this.url}/api/sessions/${session}/fs/read?path=${encodeURIComponent(path)}`, { headers: { authorization: `Bearer ${this.token}` } });
    if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
    return Buffer.from(await response.arrayBuffer());
  }

  /** Writes a file of a session, as somebody who edits it does. */
  async put(session, path, text) {
    const response = await fetch(`${this.url}/api/sessions/${session}/fs?path=${encodeURIComponent(path)}`, { method: "PUT", headers: { authorization: `Bearer ${this.token}` }, body: text });
    if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
  }

  /** Makes a token, and gives its secret. */
  async grant(name, scope) {
    return (await this.api("/api/tokens", { method: "POST", body: { name, scope } })).secret;
  }

  /** Installs an agent's program unless it is there; gives the reason when it cannot. */
  install(agent) {
    if (existsSync(join(AGENTS, agent, "current.json"))) return null;
    const home = mkdtempSync(join(tmpdir(), "warren-e2e-"));
    const done = spawnSync(BINARY, ["agents", "install", agent, "--dir", home], { env: this.#env(), encoding: "utf8", timeout: 300_000 });
    rmSync(home, { recursive: true, force: true });
    return done.status === 0 ? null : `${done.stderr || done.stdout || done.error}`;
  }

  /** Gives it LibreOffice, which it finds while it runs; takes it away again. `false` where the machine has none. */
  office(wanted) {
    rmSync(this.#office, { force: true });
    if (wanted && existsSync(OFFICE)) symlinkSync(OFFICE, this.#office);
    return existsSync(this.#office);
  }

  /** Nothing of whoever runs the stories: no keys, so that the demo model answers. */
  #env() {
    return { WARREN_DOCUMENTS_LIBREOFFICE: this.#office, PATH: process.env.PATH, HOME: this.#dir, WARREN_AGENTS_DIRECTORY: AGENTS, WARREN_STORAGE_OUTPUTS_TEMPLATE_PATH: this.#nothing, WARREN_LOG: process.env.WARREN_LOG ?? "" };
  }
}

/** A port that passes everything on to the server, until it is cut. */
export class Wire {
  #sockets = new Set();
  #listener;
  #open = true;
  #watch = null;
  port = 0;

  static async to(server) {
    const wire = new Wire();
    wire.#listener = createServer((near) => {
      if (!wire.#open) return near.destroy();
      const far = connect(server.port, "127.0.0.1");
      for (const socket of [near, far]) {
        wire.#sockets.add(socket);
        socket.on("error", () => {});
        socket.on("close", () => {
          wire.#sockets.delete(socket);
          near.destroy();
          far.destroy();
        });
      }
      near.on("data", (part) => wire.#count(part.length));
      near.pipe(far).pipe(near);
      return undefined;
    });
    await new Promise((done) => wire.#listener.listen(0, "127.0.0.1", done));
    wire.port = wire.#listener.address().port;
    return wire;
  }

  get url() {
    return `http://127.0.0.1:${this.port}`;
  }

  /** Does something once, when this many more bytes went to the server. */
  after(bytes, act) {
    this.#watch = { left: bytes, act };
  }

  #count(bytes) {
    const watch = this.#watch;
    if (!watch || (watch.left -= bytes) > 0) return;
    this.#watch = null;
    watch.act();
  }

  cut() {
    this.#open = false;
    for (const socket of this.#sockets) socket.destroy();
  }

  mend() {
    this.#open = true;
  }

  end() {
    this.cut();
    this.#listener.close();
  }
}
