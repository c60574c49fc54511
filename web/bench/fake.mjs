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

/** How many entries of a log become one block, on average: its start, its end, and what it streams. */
export const EVENTS_PER_BLOCK = 5;
/** How many blocks a run leaves, on average. */
const BLOCKS_PER_RUN = 20;

/** A diff of 60 lines in three places. */
const HUNKS = ["--- a/file.ts", "+++ b/file.ts", ...[10, 60, 110].flatMap((at) => [`@@ -${at},10 +${at},11 @@`, ...Array.from({ length: 3 }, (_, n) => ` const before${n} = ${n};`), "-const old = compute(1, 2);", "-return old;", ...Array.from({ length: 4 }, (_, n) => `+const made${n} = compute(${n}, "text");`), ...Array.from({ length: 3 }, (_, n) => ` const after${n} = ${n};`)])].join("\n") + "\n";

const USAGE = { inputTokens: 1000, outputTokens: 100, totalTokens: 1100, costUSD: 0.01 };

/** Runs that ended, newest first, and the versions they made. */
function historyOf(blocks) {
  const ran = blocks.filter((_, n) => n % BLOCKS_PER_RUN === 0).reverse();
  const id = (n) => `01a1e59f-7396-74b9-9d73-${String(n).padStart(12, "0")}`;
  const runs = ran.map((block, n) => ({
    runId: id(ran.length - n), sessionId: SESSION, status: "completed", content: block.content ?? "go", options: {}, createdAt: block.timestamp, startedAt: block.timestamp,
    endedAt: block.timestamp, baseVersion: ran.length - n - 1, version: ran.length - n, seq: ran.length - n, usage: USAGE,
  }));
  const versions = runs.map((run) => ({
    version: run.version, base: run.baseVersion, cause: "run", runId: run.runId, seq: run.seq, createdAt: run.endedAt, sizeBytes: 1e6,
    files: { added: 0, changed: 1, removed: 0 }, blocks: BLOCKS_PER_RUN, usage: USAGE, costUSD: run.version * 0.01,
  }));
  return { runs, versions };
}

/** Starts it. With `pages`, it gives conversations and lists in parts, as the real server does; without, all at once. */
export async function fakeServer({ dist, blocks, pages = false, changed = 0 }) {
  const seq = blocks.length * EVENTS_PER_BLOCK + 10;
  const history = pages ? historyOf(blocks) : { runs: [], versions: [] };
  const version = history.versions.length;
  const session = {
    sessionId: SESSION, type: "builtin", agentProfileReference: "default", name: "Long day", createdAt: 1, lastActivity: Date.now(), metadata: {}, options: {},
    projectId: SESSION, workspaceId: SESSION, version, lastSeq: seq, runtime: { isLoaded: true, sandbox: null }, activeRunId: RUN,
  };
  const run = { runId: RUN, sessionId: SESSION, status: "running", content: "go", options: {}, createdAt: new Date().toISOString(), startedAt: new Date().toISOString(), baseVersion: 0, seq, usage: { inputTokens: 0, outputTokens: 0, totalTokens: 0, costUSD: 0 } };
  const data = { ...session, subagents: [], workspaceFiles: [], queue: [] };
  /** The newest part of a list that is newest first, after a cursor. */
  const part = (list, query, idOf) => {
    const start = query.has("cursor") ? list.findIndex((one) => idOf(one) === query.get("cursor")) + 1 : 0;
    const some = list.slice(start, start + Number(query.get("limit") ?? 50));
    return { some, rest: list.slice(start + some.length), nextCursor: start + some.length < list.length ? idOf(some.at(-1)) : undefined };
  };
  const messagesOf = (query) => {
    const end = query.has("before") ? blocks.findIndex((block) => block.id === query.get("before")) : blocks.length;
    if (query.has("only")) return { blocks: [], lastSeq: last };
    const start = Math.max(0, end - Number(query.get("limit") ?? 100));
    return { blocks: blocks.slice(start, end), lastSeq: last, previousCursor: start > 0 ? blocks[start].id : undefined };
  };
  const sessionOf = (query) => {
    if (!pages || !query.has("limit")) return { ...data, blocks };
    const { blocks: newest, previousCursor } = messagesOf(query);
    return { ...data, blocks: newest, previousCursor };
  };
  const runsOf = (query) => {
    const { some, rest, nextCursor } = part([run, ...history.runs], query, (one) => one.runId);
    return { runs: some, nextCursor, earlier: { ...USAGE, costUSD: rest.reduce((sum, one) => sum + one.usage.costUSD, 0) } };
  };
  const versionsOf = (query) => {
    const { some, nextCursor } = part(history.versions, query, (one) => String(one.version));
    return { versions: some, nextCursor, head: { version, dirty: false } };
  };
  const files = Array.from({ length: changed }, (_, n) => ({
    path: `packages/part-${n % 40}/src/area-${n % 7}/file-${n}.ts`, change: n % 9 === 0 ? "added" : "changed", kind: "file", binary: false,
    before: n % 9 === 0 ? undefined : { sizeBytes: 900, hash: String(n).padStart(64, "a"), mode: 420 }, after: { sizeBytes: 950, hash: String(n).padStart(64, "b"), mode: 420 },
  })).sort((a, b) => (a.path < b.path ? -1 : 1));
  /** As the server answers: all files without lines, 500 with counts, or one with its lines. */
  const diffOf = (query) => {
    const from = query.has("after") ? files.findIndex((file) => file.path === query.get("after")) + 1 : 0;
    const most = query.get("lines") === "none" ? 20_000 : 500;
    const some = query.has("path") ? files.filter((file) => file.path === query.get("path")).map((file) => ({ ...file, diff: HUNKS })) : files.slice(from, from + most);
    const counts = query.get("lines") === "none" ? {} : { added: 12, removed: 9 };
    return { from: version - 1, to: version, files: some.map((file) => ({ ...file, ...counts })), truncated: !query.has("path") && from + most < files.length, blocks: [] };
  };
  const asked = {
    [`/api/sessions/${SESSION}/versions/${version}/diff`]: diffOf,
    [`/api/sessions/${SESSION}`]: sessionOf,
    [`/api/sessions/${SESSION}/messages`]: messagesOf,
    [`/api/sessions/${SESSION}/runs`]: runsOf,
    [`/api/sessions/${SESSION}/versions`]: versionsOf,
  };
  const answers = {
    "/api/auth": { tokenId: SESSION, name: "bench", scope: "admin" },
    "/api/sessions": { sessions: [session] },
    "/api/approvals": { approvals: [] },
    "/api/agents": { agents: [{ name: "builtin", isAgent: true, ready: true }] },
    "/api/profiles": { profiles: [] },
    "/api/doctor": {},
    [`/api/sessions/${SESSION}/artifacts`]: { artifacts: [] },
    [`/api/sessions/${SESSION}/fs`]: { path: "", source: "live", entries: [] },
  };
  const readers = new Set();
  let sent = 0;
  let last = seq;
  const server = createServer((request, response) => {
    const { pathname: path, searchParams } = new URL(request.url, "http://fake");
    const json = (body) => {
      sent += Buffer.byteLength(body);
      response.writeHead(200, { "content-type": "application/json" }).end(body);
    };
    if (asked[path]) return json(JSON.stringify(asked[path](searchParams)));
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
  return {
    url: `http://127.0.0.1:${server.address().port}`,
    /** Sends one event to everybody who follows the log. */
    send(body) {
      last += 1;
      const event = { seq: last, sessionId: SESSION, runId: RUN, conversationId: "main", timestamp: new Date().toISOString(), ...body };
      const line = `id: ${last}\ndata: ${JSON.stringify(event)}\n\n`;
      for (const reader of readers) reader.write(line);
    },
    /** Bytes of all answers of the API, and none of the page's own files. */
    get sent() {
      return sent;
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
