// A server with one session that made things, for trying the panel, the overview and the settings in a browser.
import { createReadStream, existsSync, statSync } from "node:fs";
import { createServer } from "node:http";
import { extname, join } from "node:path";
import { docx, pdf, PNG, zip } from "./documents.mjs";

const TYPES = { ".js": "text/javascript", ".mjs": "text/javascript", ".css": "text/css", ".html": "text/html; charset=utf-8", ".svg": "image/svg+xml" };
/** As crates/server/src/page.rs has it. */
const POLICY = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob: data:; font-src 'self'; connect-src 'self'; worker-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; frame-src http://*.localhost:*";

export const SESSION = "01a1e59f-738f-7519-acaa-201fbee05f50";
const FORK = "01a1e59f-738f-7519-acaa-201fbee05f51";
const RUNS = ["01a1e59f-7396-74b9-9d73-322f8dfae3d1", "01a1e59f-7396-74b9-9d73-322f8dfae3d2", "01a1e59f-7396-74b9-9d73-322f8dfae3d3", "01a1e59f-7396-74b9-9d73-322f8dfae3d4"];
const HOSTILE = "<img src=x onerror=alert(1)>\u202Egpj.exe";
const usage = { inputTokens: 900, outputTokens: 300, cacheReadTokens: 2200, cacheWriteTokens: 0, thinkingTokens: 0, totalTokens: 3400, costUSD: 0.21, model: null };
const ago = (minutes) => new Date(Date.now() - minutes * 60_000).toISOString();

const session = (sessionId, more) => ({
  sessionId, type: "claude-code", agentProfileReference: "default", name: "Ferry load dashboard", createdAt: 1, lastActivity: Date.now(), metadata: {}, options: { budget: { costUsd: 5 } },
  projectId: SESSION, workspaceId: SESSION, version: 4, lastSeq: 40, runtime: { isLoaded: true, sandbox: null }, activeRunId: null, ...more,
});
const ASKED = ["Empty project from the template", "First page", "Parser reads the operator’s file", "Heat map and over-90 % list"];
const versions = ASKED.map((asked, at) => ({
  version: at + 1, base: at, cause: "run", runId: RUNS[at], seq: (at + 1) * 10, createdAt: ago(60 - at * 12), sizeBytes: 12_000, blocks: [2, 31, 24, 18][at], usage, costUSD: [0, 0.07, 0.16, 0.37][at],
  files: [{ added: 6, changed: 0, removed: 0 }, { added: 9, changed: 2, removed: 0 }, { added: 1, changed: 4, removed: 0 }, { added: 1, changed: 2, removed: 1 }][at],
})).reverse();
const runs = ASKED.map((content, at) => ({ runId: RUNS[at], sessionId: SESSION, status: "completed", content, options: {}, createdAt: ago(61 - at * 12), startedAt: ago(61 - at * 12), endedAt: ago(60 - at * 12), baseVersion: at, version: at + 1, seq: at * 10 + 1, usage })).reverse();
const DIFF = `--- a/src/heat.ts
+++ b/src/heat.ts
@@ -41,7 +41,12 @@ drawHeat
 export function drawHeat(rows: Load[], el: HTMLElement) {
-  const hours = range(0, 24);
+  const hours = range(5, 21);
+  const over = overfull(rows, 0.9);
   for (const route of routes(rows)) {
-    el.append(cell(route, 0));
+    const line = row(route);
+    for (const h of hours) {
+      line.append(cell(route, h, over.has(route, h)));
+    }
+    el.append(line);
   }
   legend(el, over.size);
 }
`;
const CODE = `import { scale, range } from "./scale";
import type { Load } from "./parse";

// one button for each route and hour; its label says its load
function cell(route: Route, hour: number, load: number) {
  const b = document.createElement("button");
  b.className = load > 0.9 ? "cell over" : "cell";
  b.ariaLabel = \`\${route.name}, \${hour}:00, \${pct(load)}\`;
  return b;
}
`;
const MARKDOWN = `# Method\n\nSailings before **03:00** belong to the evening before.\n\n- one\n- two <script>alert(1)</script>\n\n| Route | Load |\n|---|---|\n| Norrvik–Sandö | 99 % |\n`;
const CSV = ["route,hour,load", ...Array.from({ length: 4211 }, (_, n) => `Norrvik–Sandö ${n},${n % 24},"${(n % 100) / 100}"`)].join("\n");
const artifact = (id, kind, name, more) => ({ id, kind, name, path: `outputs/${name}`, sizeBytes: 14_336, hash: id.repeat(8), createdVersion: 2, updatedVersion: 4, createdSeq: 12, updatedSeq: 38, ...more });
const entry = (path, kind, sizeBytes = 0) => ({ name: path.split("/").at(-1), path, kind, sizeBytes, mode: 420, modifiedAt: ago(3) });
const tree = {
  "": [entry("outputs", "directory"), entry("src", "directory"), entry("node_modules", "directory"), entry("README.md", "file", 900), entry(HOSTILE, "file", 1)],
  outputs: [entry("outputs/over-90.xlsx", "file", 14_336), entry("outputs/method.md", "file", 3_072)],
  src: [entry("src/heat.ts", "file", 6_100), entry("src/parse.ts", "file", 4_100), entry("src/page.ts", "file", 6_000)],
  node_modules: [],
};
const event = (seq, type, more) => ({ seq, sessionId: SESSION, conversationId: "main", timestamp: ago(40 - seq), type, ...more });
const events = [
  event(1, "session_created", { agentType: "claude-code", profile: "default" }),
  event(2, "run_started", { runId: RUNS[0], input: "go", baseVersion: 0 }),
  event(3, "text_delta", { blockId: "a", delta: "x" }),
  event(4, "text_delta", { blockId: "a", delta: "y" }),
  event(5, "approval_requested", { approvalId: FORK, kind: "egress", title: "reach packages.example.org", detail: {}, options: ["allow"], expiresAt: ago(-60) }),
  event(6, "run_failed", { runId: RUNS[0], code: "LLM_ERROR", message: HOSTILE, recoverable: true, usage, costUSD: 0, diagnostics: {} }),
  event(7, "unrecognized", { agent: "claude-code", raw: "<script>alert(1)</script>".repeat(200) }),
];
/** A run that writes. */
const NEXT_RUN = "01a1e59f-7396-74b9-9d73-322f8dfae3ff";
export const live = [
  event(41, "run_started", { runId: NEXT_RUN, input: "Go on", baseVersion: 4 }),
  event(42, "file_changed", { runId: NEXT_RUN, path: "src/heat.ts", change: "modified", sizeBytes: 6_200 }),
  event(43, "file_changed", { runId: NEXT_RUN, path: "src/new.ts", change: "created", sizeBytes: 10 }),
];

const rels = (...targets) => `<Relationships xmlns="r">${targets.map((target, n) => `<Relationship Id="r${n + 1}" Target="${target}"/>`).join("")}</Relationships>`;
const SHEET = zip({
  "xl/workbook.xml": '<workbook xmlns="m" xmlns:r="r"><sheets><sheet name="Over 90" r:id="r1"/><sheet name="Notes" r:id="r2"/></sheets></workbook>',
  "xl/_rels/workbook.xml.rels": rels("worksheets/sheet1.xml", "worksheets/sheet2.xml"),
  "xl/sharedStrings.xml": '<sst xmlns="m"><si><t>Norrvik–Sandö</t></si></sst>',
  "xl/styles.xml": '<styleSheet xmlns="m"><cellXfs><xf numFmtId="0"/><xf numFmtId="14"/></cellXfs></styleSheet>',
  "xl/worksheets/sheet1.xml": '<worksheet xmlns="m"><sheetData><row r="1"><c r="A1" t="s"><v>0</v></c><c r="C1" s="1"><v>46206</v></c><c r="D1"><v>0.99</v></c></row></sheetData></worksheet>',
  "xl/worksheets/sheet2.xml": '<worksheet xmlns="m"><sheetData/></worksheet>',
});
const SLIDES = zip({
  "ppt/presentation.xml": '<p:presentation xmlns:p="p" xmlns:r="r"><p:sldIdLst><p:sldId id="1" r:id="r1"/></p:sldIdLst><p:sldSz cx="12192000" cy="6858000"/></p:presentation>',
  "ppt/_rels/presentation.xml.rels": rels("slides/slide1.xml"),
  "ppt/slides/slide1.xml": '<p:sld xmlns:p="p" xmlns:a="a"><p:sp><p:nvPr><p:ph type="title"/></p:nvPr><p:spPr><a:xfrm><a:off x="600000" y="400000"/><a:ext cx="9000000" cy="1200000"/></a:xfrm></p:spPr><p:txBody><a:p><a:r><a:rPr sz="4000" b="1"/><a:t>Summer ferries</a:t></a:r></a:p></p:txBody></p:sp></p:sld>',
  "ppt/slides/_rels/slide1.xml.rels": rels(),
});
const CONTENTS = { b: SHEET, c: SLIDES, d: MARKDOWN, e: CSV, f: PNG, g: pdf("Harbour report"), h: docx("Crew rota for July"), i: CODE };

const S = `/api/sessions/${SESSION}`;
const isolation = { backend: "local", userns: true, pidns: true, netns: true, seccomp: true, landlock: 4, cgroup: { version: 2, memory: true, cpu: true, pids: true }, uid: { own: true, uid: 70001 }, disk: { how: "best effort" }, notes: [] };

export async function fakeServer(dist) {
  const feeds = new Set();
  const calls = [];
  const list = [
    session(SESSION), session(FORK, { name: "Canvas heat map", type: "opencode", version: 6, forkedFrom: { sessionId: SESSION, version: 3 } }),
  ];
  let heat = CODE;
  let etag = 1;
  const unsaved = [];
  const answers = {
    "GET /api/auth": () => ({ tokenId: SESSION, name: "mara", scope: "admin", csrf: "x" }),
    "GET /api/sessions": () => ({ sessions: list }),
    "GET /api/approvals": () => ({ approvals: [] }),
    "GET /api/agents": () => ({ agents: [{ name: "builtin", isAgent: true, ready: true, hasEffort: true }, { name: "claude-code", isAgent: true, ready: true, installedVersion: "2.1.4", pinnedVersion: "2.1.4", sizeBytes: 1e8 }, { name: "opencode", isAgent: true, ready: true, installedVersion: "1.0.61", pinnedVersion: "1.0.70" }, { name: "codex", isAgent: true, ready: false, pinnedVersion: "0.58.0" }] }),
    "GET /api/models": () => ({ models: [], problems: [] }),
    "GET /api/providers": () => ({ providers: [
      { name: "anthropic", label: "Anthropic", baseUrl: "https://api.anthropic.com", hasKey: true, isDemo: false, isSet: true, keySource: "page", keyEnding: "a1b2", variable: "ANTHROPIC_API_KEY" },
      { name: "openai", label: HOSTILE, baseUrl: "https://api.openai.com/v1", hasKey: false, isDemo: true, isSet: false, variable: "OPENAI_API_KEY", problem: HOSTILE },
    ] }),
    "GET /api/profiles": () => ({ profiles: [{ id: "default", name: "Default", skills: [] }, { id: "reviewer", name: "Reviewer", description: "Reads, never writes" }] }),
    "GET /api/tokens": () => ({ tokens: [{ tokenId: SESSION, name: HOSTILE, scope: "admin", createdAt: ago(9000) }, { tokenId: FORK, name: "harbour office", scope: "admin:ro", createdAt: ago(500), expiresAt: ago(-40_000) }] }),
    "GET /api/doctor": () => ({
      isolation: { backend: "local", version: "0.8.0", usable: true, isolation, hints: [{ layer: "disk", problem: "Disk limits are measured, not enforced", hint: "put the data directory on a file system with project quotas" }] },
      agents: ["builtin", "claude-code", "opencode", "codex"],
      models: [{ format: "Anthropic", target: "demo", hasKey: false }],
    }),
    "GET /api/sandboxes": () => ({ sandboxes: [{ sessionId: SESSION, runtime: { isLoaded: true, sandbox: { status: "ready" } }, isolation, resources: { memoryBytes: 8e8, cpuSeconds: Date.now() / 1600, diskBytes: 2.12e8 }, limits: { memoryBytes: 2e9, cpuMillis: 1000 }, log: [] }] }),
    "GET /api/usage": (query) => {
      const day = new Date(query.get("from")).getDate();
      const part = (group, cost) => ({ group, runs: 1, usage: { ...usage, inputTokens: day * 9e4, cacheReadTokens: day * 2e5, outputTokens: day * 2e4, costUSD: cost } });
      const rows = [part("claude-code", (day % 5) + 0.6), part("opencode", (day % 3) * 0.7), part("builtin", 0.4)];
      return { rows, total: { ...rows[0].usage, costUSD: rows.reduce((sum, row) => sum + row.usage.costUSD, 0) } };
    },
    [`GET ${S}`]: () => ({ ...list[0], blocks: [{ type: "user_message", id: "m", timestamp: ago(20), content: "Show load by route and hour." }, { type: "assistant_text", id: "a", timestamp: ago(19), content: "Done: `outputs/`." }], subagents: [], workspaceFiles: [] }),
    [`GET ${S}/runs`]: () => ({ runs }),
    [`GET ${S}/versions`]: () => ({ versions, head: { version: 4, dirty: false } }),
    [`GET ${S}/replays`]: () => ({ replays: [{ replayId: "x", sessionId: SESSION, runId: RUNS[2], status: "done", diverged: true, firstDivergence: { kind: "event", conversationId: "main", index: 12, message: "the command’s output differs", diff: DIFF }, differences: [{ message: "ls printed another time", diff: DIFF }], calls: { compared: 12, equal: 11 }, notes: ["no tree of this run is kept to compare with"], events: { compared: 140, equal: 120 }, files: { compared: 20, equal: 19, different: ["src/heat.ts"] }, startedAt: ago(9), endedAt: ago(8) }, { replayId: "y", sessionId: SESSION, runId: RUNS[3], status: "done", diverged: false, differences: [], events: { compared: 90, equal: 90 }, files: { compared: 20, equal: 20, different: [] }, startedAt: ago(5), endedAt: ago(4) }] }),
    [`GET ${S}/artifacts`]: () => ({ artifacts: [artifact("a", "web_app", "Ferry load", { port: 5173, path: "outputs/app" }), artifact("b", "excel", "over-90.xlsx"), artifact("c", "pptx", "board-june.pptx"), artifact("d", "markdown", "method.md"), artifact("e", "csv", "sailings-2026.csv"), artifact("f", "image", "map.png"), artifact("g", "pdf", "report.pdf"), artifact("h", "docx", "rota.docx"), artifact("i", "code", "heat.ts")] }),
    [`POST ${S}/artifacts/a/preview`]: () => ({ url: `http://5173-${SESSION}.localhost:${port}/preview` }),
    [`GET ${S}/events`]: () => ({ events, lastSeq: 7, head: 40 }),
    [`GET ${S}/fs`]: (query) => ({ path: query.get("path"), source: "live", entries: tree[query.get("path")] ?? [] }),
    [`GET ${S}/fs/changes`]: () => ({ version: 4, changes: unsaved }),
    [`POST ${S}/fork`]: () => list[1],
    [`POST ${S}/restore`]: () => ({ ...versions[0], version: 5, cause: "restore" }),
  };
  for (const version of versions) {
    answers[`GET ${S}/versions/${version.version}/files`] = (query) => ({ path: query.get("path"), entries: [] });
    answers[`GET ${S}/versions/${version.version}/diff`] = (query) => {
      const files = [{ path: "src/heat.ts", change: "changed", kind: "file", binary: false, diff: DIFF, added: 2, removed: 1 }, { path: HOSTILE, change: "added", kind: "file", binary: true, after: { sizeBytes: 14_336, hash: "ab".repeat(32), mode: 420 } }];
      const wanted = files.filter((file) => !query.has("path") || file.path === query.get("path"));
      return { from: Number(query.get("against") ?? version.base), to: version.version, files: wanted, blocks: [{ type: "user_message", id: "m", timestamp: ago(3), content: "Go" }] };
    };
  }
  for (const id of Object.keys(CONTENTS)) answers[`GET ${S}/artifacts/${id}/versions`] = () => ({ versions: [{ version: 2 }, { version: 4 }] });
  answers[`GET ${S}/artifacts/a/versions`] = () => ({ versions: [{ version: 2 }, { version: 3 }, { version: 4 }] });

  const server = createServer((request, response) => {
    const url = new URL(request.url, "http://x");
    const key = `${request.method} ${url.pathname}`;
    const send = (type, body, status = 200, more = {}) => response.writeHead(status, { "Content-Type": type, ...more }).end(body);
    if (request.headers.host.includes(".localhost")) return send("text/html", "<!doctype html><title>Ferry load</title><body style='font:16px system-ui;padding:24px'><h1>Ferry load</h1><script>document.body.dataset.origin = location.origin</script>");
    if (request.method !== "GET") calls.push({ key, headers: request.headers });
    if (key === `PUT ${S}/fs`) {
      if (request.headers["if-match"] !== `"${etag}"`) return send("application/problem+json", JSON.stringify({ status: 412, code: "CONFLICT", detail: "changed", title: "Conflict" }), 412);
      const parts = [];
      request.on("data", (part) => parts.push(part)).on("end", () => { heat = Buffer.concat(parts).toString(); etag += 1; send("application/json", "{}"); });
      return undefined;
    }
    if (url.pathname === `${S}/events` && request.headers.accept?.includes("event-stream")) {
      response.writeHead(200, { "Content-Type": "text/event-stream" }).write(": hi\n\n");
      feeds.add(response);
      return request.on("close", () => feeds.delete(response));
    }
    if (key === "GET /api/events") return response.writeHead(200, { "Content-Type": "text/event-stream" }).write(": hi\n\n");
    const content = new RegExp(`^${S}/artifacts/(.)/content$`).exec(url.pathname);
    if (content) return send("application/octet-stream", CONTENTS[content[1]]);
    if (url.pathname === `${S}/fs/convert`) return send("application/problem+json", JSON.stringify({ status: 503, code: "CONVERTER_MISSING", title: "No converter", detail: "LibreOffice is not installed on the server", hint: "install it" }), 503);
    if (url.pathname === `${S}/fs/read`) return send("application/octet-stream", url.searchParams.get("path") === "src/heat.ts" ? heat : MARKDOWN, 200, { ETag: `"${etag}"` });
    if (/^\/api\/sessions\/[^/]+\/versions\/4\/file$/.test(url.pathname)) return send("application/octet-stream", CODE.replace("0.9", "0.8"));
    const answer = answers[key];
    if (answer) return send("application/json", JSON.stringify(answer(url.searchParams)));
    if (url.pathname.startsWith("/api/")) return send("application/problem+json", JSON.stringify({ status: 404, code: "NOT_FOUND", title: "Not found", detail: `there is no ${key}` }), 404);
    const file = join(dist, url.pathname);
    const isFile = url.pathname !== "/" && existsSync(file) && statSync(file).isFile();
    response.writeHead(200, { "Content-Type": TYPES[isFile ? extname(file) : ".html"] ?? "application/octet-stream", "Content-Security-Policy": POLICY });
    return createReadStream(isFile ? file : join(dist, "index.html")).pipe(response);
  });
  await new Promise((ready) => server.listen(0, "127.0.0.1", ready));
  const { port } = server.address();
  return {
    url: `http://localhost:${port}`,
    calls,
    text: () => heat,
    change: (text) => { heat = text; etag += 1; },
    say: (line) => {
      if (line.type === "file_changed") unsaved.push({ path: line.path, change: line.change });
      feeds.forEach((feed) => feed.write(`id: ${line.seq}\ndata: ${JSON.stringify(line)}\n\n`));
    },
    close: () => { server.closeAllConnections(); server.close(); },
  };
}
