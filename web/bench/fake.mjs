// A server that holds one conversation of many blocks and streams into it as fast as it is told to.
import { createServer } from "node:http";
import { createReadStream, existsSync, statSync } from "node:fs";
import { extname, join } from "node:path";

const TYPES = { ".js": "text/javascript", ".css": "text/css", ".html": "text/html", ".svg": "image/svg+xml" };
const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; font-src 'self'; frame-src 'self'; base-uri 'none'";
export const SESSION = "01a1e59f-738f-7519-acaa-201fbee05f50";
const RUN = "01a1e59f-7396-74b9-9d73-322f8dfae3de";
const SENTENCE = "The parser groups by service day, and all tests pass on the corrected data. ";

/** Blocks as a long day's work leaves them: messages, text, thoughts, commands with output, edits. */
export function blocksOf(count) {
  const blocks = [];
  const at = (n) => new Date(1_794_853_794_704 + n * 1000).toISOString();
  for (let n = 0; blocks.length < count; n++) {
    const id = `b${n}`;
    const timestamp = at(n);
    const use = (toolName, input) => ({ type: "tool_use", id, timestamp, toolName, toolUseId: id, input, status: "success" });
    const result = (output) => ({ type: "tool_result", id: `${id}-r`, timestamp, toolUseId: id, output, isError: false, durationMs: 40 });
    switch (n % 5) {
      case 0:
        blocks.push({ type: "user_message", id, timestamp, content: `Question ${n}: ${SENTENCE}` });
        break;
      case 1:
        blocks.push({ type: "assistant_text", id, timestamp, content: `**Answer ${n}.** ${SENTENCE.repeat(4)}\n\n- one\n- two \`code\`\n` });
        break;
      case 2:
        blocks.push(use("bash", { command: `pnpm test part-${n}` }), result("ok\n".repeat(12)));
        break;
      case 3:
        blocks.push(use("edit", { path: `src/f${n}.ts`, old_text: "const a = 1;\n", new_text: "const a = 2;\nconst b = 3;\n" }), result("Replaced once"));
        break;
      default:
        blocks.push({ type: "thinking", id, timestamp, content: SENTENCE });
    }
  }
  return blocks.slice(0, count);
}

/** Starts it. `stream` decides what a reader of the log is sent: a function that gets `write(event)`. */
export async function fakeServer({ dist, blocks }) {
  const seq = blocks.length + 10;
  const session = {
    sessionId: SESSION, type: "builtin", agentProfileReference: "default", name: "Long day", createdAt: 1, lastActivity: Date.now(), metadata: {}, options: {},
    projectId: SESSION, workspaceId: SESSION, version: 0, lastSeq: seq, runtime: { isLoaded: true, sandbox: null }, activeRunId: RUN,
  };
  const run = { runId: RUN, sessionId: SESSION, status: "running", content: "go", options: {}, createdAt: new Date().toISOString(), startedAt: new Date().toISOString(), baseVersion: 0, seq, usage: { inputTokens: 0, outputTokens: 0, totalTokens: 0, costUSD: 0 } };
  const whole = JSON.stringify({ ...session, blocks, subagents: [], workspaceFiles: [] });
  const answers = {
    "/api/auth": { tokenId: SESSION, name: "bench", scope: "admin" },
    "/api/sessions": { sessions: [session] },
    "/api/approvals": { approvals: [] },
    "/api/agents": { agents: [{ name: "builtin", isAgent: true, ready: true }] },
    "/api/profiles": { profiles: [] },
    "/api/doctor": {},
    [`/api/sessions/${SESSION}/runs`]: { runs: [run] },
    [`/api/sessions/${SESSION}/versions`]: { versions: [], head: { version: 0, dirty: false } },
    [`/api/sessions/${SESSION}/artifacts`]: { artifacts: [] },
    [`/api/sessions/${SESSION}/fs`]: { path: "", source: "live", entries: [] },
  };
  const readers = new Set();
  const server = createServer((request, response) => {
    const path = request.url.split("?")[0];
    const json = (body) => response.writeHead(200, { "content-type": "application/json" }).end(body);
    if (path === `/api/sessions/${SESSION}`) return json(whole);
    if (answers[path]) return json(JSON.stringify(answers[path]));
    if (path === "/api/events" || path.endsWith("/events")) {
      response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-store" });
      response.write(":\n\n");
      if (path !== "/api/events") readers.add(response);
      response.on("close", () => readers.delete(response));
      return undefined;
    }
    if (path.startsWith("/api/")) return response.writeHead(404).end();
    const file = join(dist, path);
    const found = existsSync(file) && statSync(file).isFile() ? file : join(dist, "index.html");
    response.writeHead(200, { "content-type": TYPES[extname(found)] ?? "application/octet-stream", "content-security-policy": POLICY });
    return createReadStream(found).pipe(response);
  });
  await new Promise((done) => server.listen(0, "127.0.0.1", done));
  let last = seq;
  return {
    url: `http://127.0.0.1:${server.address().port}`,
    /** Sends one event to everybody who follows the log. */
    send(body) {
      last += 1;
      const event = { seq: last, sessionId: SESSION, runId: RUN, conversationId: "main", timestamp: new Date().toISOString(), ...body };
      const line = `id: ${last}\ndata: ${JSON.stringify(event)}\n\n`;
      for (const reader of readers) reader.write(line);
    },
    get readers() {
      return readers.size;
    },
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}
