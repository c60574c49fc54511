// Measures the page in Chromium: 500 deltas a second into a conversation of 10,000 blocks, how soon it can be used, what
// it weighs, what opening a session of 200,000 events costs beside one of 500, and how soon a diff of 5,000 files can be read. Prints one JSON line; fails when a budget of the design is not kept.
//
//   npm run bench            needs `npm run build` before it, and Chromium (CHROMIUM, or /usr/bin/chromium)
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { chromium } from "playwright-core";
import { blocksOf, EVENTS_PER_BLOCK, fakeServer, SESSION } from "./fake.mjs";

const DIST = fileURLToPath(new URL("../dist", import.meta.url));
const CHROMIUM = process.env.CHROMIUM ?? "/usr/bin/chromium";
const BLOCKS = 10_000;
const PER_SECOND = 500;
const SECONDS = 8;
const LONG_EVENTS = 200_000;
const SHORT_EVENTS = 500;
const ROUNDS = 5;
const CHANGED = 5_000;
const BUDGETS = { framesPerSecond: 50, heapPerText: 4, interactiveMs: 1000, firstLoadKB: 300, longOverShort: 1.2, diffMs: 1000 };

if (!existsSync(`${DIST}/index.html`)) throw new Error("there is no build of the page: run `npm run build` first");
const figures = { firstLoadKB: firstLoad(), ...(await measured()) };
console.log(JSON.stringify(figures));
const broken = [
  figures.framesPerSecond < BUDGETS.framesPerSecond && `frames: ${figures.framesPerSecond}/s, at least ${BUDGETS.framesPerSecond}`,
  figures.heapPerText > BUDGETS.heapPerText && `heap grew by ${figures.heapPerText} times the text, at most ${BUDGETS.heapPerText}`,
  figures.interactiveMs > BUDGETS.interactiveMs && `interactive after ${figures.interactiveMs} ms, at most ${BUDGETS.interactiveMs}`,
  figures.longOverShortBytes > BUDGETS.longOverShort && `a long session loads ${figures.longOverShortBytes} times the bytes of a short one, at most ${BUDGETS.longOverShort}`,
  figures.longOverShortMs > BUDGETS.longOverShort && `a long session takes ${figures.longOverShortMs} times as long to open as a short one, at most ${BUDGETS.longOverShort}`,
  figures.diffMs > BUDGETS.diffMs && `a diff of ${CHANGED} files opens in ${figures.diffMs} ms, at most ${BUDGETS.diffMs}`,
  figures.firstLoadKB > BUDGETS.firstLoadKB && `first load ${figures.firstLoadKB} KB, at most ${BUDGETS.firstLoadKB}`,
].filter(Boolean);
for (const line of broken) console.error(`over budget: ${line}`);
process.exitCode = broken.length ? 1 : 0;

/** What the entry and everything it loads at once weigh, compressed. */
function firstLoad() {
  const manifest = JSON.parse(readFileSync(`${DIST}/.vite/manifest.json`, "utf8"));
  const files = new Set(["index.html", ...readdirSync(DIST).filter((name) => name === "theme.js")]);
  const visit = (key) => {
    const chunk = manifest[key];
    if (!chunk || files.has(chunk.file)) return;
    files.add(chunk.file);
    for (const css of chunk.css ?? []) files.add(css);
    for (const next of chunk.imports ?? []) visit(next);
  };
  visit("index.html");
  const bytes = [...files].reduce((sum, file) => sum + gzipSync(readFileSync(`${DIST}/${file}`), { level: 9 }).length, 0);
  return Math.round(bytes / 102.4) / 10;
}

async function measured() {
  const browser = await chromium.launch({ executablePath: CHROMIUM, args: ["--no-sandbox", "--js-flags=--expose-gc"] });
  try {
    const small = await fakeServer({ dist: DIST, blocks: blocksOf(200) });
    const interactiveMs = median((await inTurns(ROUNDS, [() => opened(browser, small)]))[0]).ms;
    small.close();
    return { interactiveMs, ...(await largeDiff(browser)), ...(await longAndShort(browser)), ...(await streaming(browser)) };
  } finally {
    await browser.close();
  }
}

/** Opens the page with an empty cache: from the request for it to a conversation that can be answered, and what it loaded. */
async function opened(browser, server) {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 } });
  const page = await context.newPage();
  const before = server.sent;
  const begun = performance.now();
  await page.goto(`${server.url}/sessions/${SESSION}`, { waitUntil: "commit" });
  await page.waitForFunction(() => document.querySelector("#msg") && document.querySelector("[role=log] [data-key]"), null, { polling: "raf" });
  const ms = performance.now() - begun;
  // What is read beside the conversation counts too.
  await page.waitForLoadState("load");
  while (server.readers === 0) await page.waitForFunction(() => true);
  await frames(page, 1);
  const bytes = server.sent - before;
  await context.close();
  return { ms: Math.round(ms), bytes };
}

/** Every measurement in each round, so that a busy machine slows down all of them. */
async function inTurns(rounds, measurements) {
  const results = measurements.map(() => []);
  for (let round = 0; round < rounds; round++) for (const [n, measure] of measurements.entries()) results[n].push(await measure());
  return results;
}

function median(results) {
  return results.toSorted((a, b) => a.ms - b.ms)[Math.floor(results.length / 2)];
}

function ratio(a, b) {
  return Math.round((a / b) * 100) / 100;
}

/** What opening a session costs that has a long log, beside one that has a short one. */
async function longAndShort(browser) {
  const start = (events) => fakeServer({ dist: DIST, blocks: blocksOf(events / EVENTS_PER_BLOCK), pages: true });
  const servers = [await start(SHORT_EVENTS), await start(LONG_EVENTS)];
  const [short, long] = (await inTurns(ROUNDS, servers.map((server) => () => opened(browser, server)))).map(median);
  servers.forEach((server) => server.close());
  return {
    shortMs: short.ms, longMs: long.ms, longOverShortMs: ratio(long.ms, short.ms),
    shortKB: Math.round(short.bytes / 102.4) / 10, longKB: Math.round(long.bytes / 102.4) / 10, longOverShortBytes: ratio(long.bytes, short.bytes),
  };
}

/** From the press on the tab to the tree of files and the lines of the first; and from a key to the next file. */
async function largeDiff(browser) {
  const server = await fakeServer({ dist: DIST, blocks: blocksOf(200), pages: true, changed: CHANGED });
  const one = async () => {
    const context = await browser.newContext({ viewport: { width: 1440, height: 900 } });
    const page = await context.newPage();
    await page.goto(`${server.url}/sessions/${SESSION}?tab=activity`);
    await page.locator("#tab-versions").waitFor();
    while (server.readers === 0) await page.waitForFunction(() => true);
    await frames(page, 1);
    const figures = await page.evaluate(async () => {
      const until = (found) => new Promise((done) => {
        const look = () => (found() ? requestAnimationFrame(() => done(performance.now())) : requestAnimationFrame(look));
        look();
      });
      const begun = performance.now();
      document.querySelector("#tab-versions").click();
      const shown = await until(() => document.querySelector(".chg-tree [role=treeitem]") && document.querySelector(".chg-file .diff .l"));
      const file = () => document.querySelector(".chg-file")?.getAttribute("aria-label");
      const first = file();
      const pressed = performance.now();
      document.querySelector("[aria-label='Next file']").click();
      const next = await until(() => file() !== first && document.querySelector(".chg-file .diff .l"));
      return { ms: Math.round(shown - begun), next: Math.round(next - pressed), rows: document.querySelectorAll(".chg-tree [role=treeitem]").length };
    });
    await context.close();
    return figures;
  };
  const { ms, next, rows } = median((await inTurns(ROUNDS, [one]))[0]);
  server.close();
  return { diffMs: ms, nextFileMs: next, rowsInDocument: rows };
}

/** Frames and heap while text streams into a long conversation. */
async function streaming(browser) {
  const blocks = blocksOf(BLOCKS);
  const server = await fakeServer({ dist: DIST, blocks });
  const page = await (await browser.newContext({ viewport: { width: 1440, height: 900 } })).newPage();
  const session = await page.context().newCDPSession(page);
  const bare = await heapOf(browser, blocksOf(1));
  await page.goto(`${server.url}/sessions/${SESSION}`);
  await page.waitForSelector("[role=log] [data-key]");
  while (server.readers === 0) await page.waitForFunction(() => true);
  const idle = await frames(page, 2);
  await session.send("Performance.enable", { timeDomain: "threadTicks" });
  const before = await worked(session);
  let streamed = 0;
  server.send({ type: "block_start", block: { type: "assistant_text", id: "live", timestamp: new Date().toISOString(), content: "" } });
  const timer = setInterval(() => {
    for (let n = 0; n < PER_SECOND / 50; n++) {
      const delta = streamed % 90 > 85 ? "word.\n\n" : "word ";
      streamed += 1;
      server.send({ type: "text_delta", blockId: "live", delta });
    }
  }, 20);
  const during = await frames(page, SECONDS);
  const mainThread = (await worked(session)) - before;
  clearInterval(timer);
  const usedSize = await collected(session);
  const text = JSON.stringify(blocks).length + streamed * 5;
  const drawn = await page.locator("[role=log] [data-key]").count();
  server.close();
  return {
    framesPerSecond: during.perSecond, longestFrameMs: during.longest, idleFramesPerSecond: idle.perSecond,
    mainThreadMsPerFrame: Math.round((mainThread * 10_000) / (during.perSecond * SECONDS)) / 10, deltasPerSecond: Math.round(streamed / SECONDS),
    heapMB: Math.round(usedSize / 1e5) / 10, bareHeapMB: Math.round(bare / 1e5) / 10, textMB: Math.round(text / 1e5) / 10,
    heapPerText: Math.round(((usedSize - bare) / text) * 100) / 100, blocksInDocument: drawn,
  };
}

/** The heap of the page with a conversation that says nothing: what the program itself takes. */
async function heapOf(browser, blocks) {
  const server = await fakeServer({ dist: DIST, blocks });
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 } });
  const page = await context.newPage();
  await page.goto(`${server.url}/sessions/${SESSION}`);
  await page.waitForSelector("[role=log] [data-key]");
  const used = await collected(await context.newCDPSession(page));
  await context.close();
  server.close();
  return used;
}

/** What is used after everything that nobody needs is gone. */
async function collected(session) {
  await session.send("HeapProfiler.collectGarbage");
  return (await session.send("Runtime.getHeapUsage")).usedSize;
}

/** Seconds that the page's thread has worked: unlike frames, no other program on the machine changes it. */
async function worked(session) {
  const { metrics } = await session.send("Performance.getMetrics");
  return metrics.find((one) => one.name === "TaskDuration").value;
}

function frames(page, seconds) {
  return page.evaluate((ms) => new Promise((done) => {
    let count = 0;
    let longest = 0;
    const begun = performance.now();
    let last = begun;
    const tick = (now) => {
      longest = Math.max(longest, now - last);
      last = now;
      count += 1;
      if (now - begun < ms) requestAnimationFrame(tick);
      else done({ perSecond: Math.round((count / (now - begun)) * 10_000) / 10, longest: Math.round(longest) });
    };
    requestAnimationFrame(tick);
  }), seconds * 1000);
}
