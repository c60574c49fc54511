// Measures the page in Chromium: 500 deltas a second into a conversation of 10,000 blocks, how soon it can be used, and
// what it weighs. Prints one JSON line; fails when a budget of the design is not kept.
//
//   npm run bench            needs `npm run build` before it, and Chromium (CHROMIUM, or /usr/bin/chromium)
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { chromium } from "playwright-core";
import { blocksOf, fakeServer, SESSION } from "./fake.mjs";

const DIST = fileURLToPath(new URL("../dist", import.meta.url));
const CHROMIUM = process.env.CHROMIUM ?? "/usr/bin/chromium";
const BLOCKS = 10_000;
const PER_SECOND = 500;
const SECONDS = 8;
const BUDGETS = { framesPerSecond: 50, heapPerText: 4, interactiveMs: 1000, firstLoadKB: 300 };

if (!existsSync(`${DIST}/index.html`)) throw new Error("there is no build of the page: run `npm run build` first");
const figures = { firstLoadKB: firstLoad(), ...(await measured()) };
console.log(JSON.stringify(figures));
const broken = [
  figures.framesPerSecond < BUDGETS.framesPerSecond && `frames: ${figures.framesPerSecond}/s, at least ${BUDGETS.framesPerSecond}`,
  figures.heapPerText > BUDGETS.heapPerText && `heap grew by ${figures.heapPerText} times the text, at most ${BUDGETS.heapPerText}`,
  figures.interactiveMs > BUDGETS.interactiveMs && `interactive after ${figures.interactiveMs} ms, at most ${BUDGETS.interactiveMs}`,
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
    const small = await interactive(browser);
    return { interactiveMs: small, ...(await streaming(browser)) };
  } finally {
    await browser.close();
  }
}

/** From the request for the page to a conversation that can be answered. The median of five, each with an empty cache. */
async function interactive(browser) {
  const server = await fakeServer({ dist: DIST, blocks: blocksOf(200) });
  const times = [];
  for (let round = 0; round < 5; round++) {
    const context = await browser.newContext({ viewport: { width: 1440, height: 900 } });
    const page = await context.newPage();
    const begun = performance.now();
    await page.goto(`${server.url}/sessions/${SESSION}`, { waitUntil: "commit" });
    await page.waitForFunction(() => document.querySelector("#msg") && document.querySelector("[role=log] [data-key]"), null, { polling: "raf" });
    times.push(performance.now() - begun);
    await context.close();
  }
  server.close();
  return Math.round(times.sort((a, b) => a - b)[2]);
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
