// Walks the stories in a real browser against a real server: `npm run e2e [part of a story's name …]`.
//
// WARREN_BIN   the server (else target/debug/warren)      CHROMIUM   the browser (else /usr/bin/chromium)
// E2E_STRICT   a story that cannot be told here is a failure
// PAGE         a directory with a built page to show in place of the server's own, so that a change of it needs no new server
// SCREENSHOTS  a directory: the stories also take the README's pictures there
import { mkdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { chromium } from "playwright-core";
import { Visitor } from "./visitor.mjs";
import { Server } from "./server.mjs";
import { STORIES } from "./stories.mjs";

const CHROMIUM = process.env.CHROMIUM ?? "/usr/bin/chromium";
/** Generous, because the machine may be busy; nothing waits this long when all is well. */
const STORY_MS = 300_000;

const wanted = process.argv.slice(2);
const stories = STORIES.filter((story) => wanted.length === 0 || wanted.some((part) => story.name.includes(part)));
const pictures = process.env.SCREENSHOTS;
if (pictures) mkdirSync(pictures, { recursive: true });

const server = await Server.start();
// Fetching an agent's program may take minutes, which are no story's.
const missing = new Map();
for (const agent of new Set(stories.flatMap((story) => story.agent ?? []))) {
  const why = server.install(agent);
  if (why) missing.set(agent, `${agent} cannot be installed here: ${why.slice(0, 200)}`);
}
// A page from a directory comes from nowhere for the browser, which would keep it from previews on this machine.
const asIfServed = process.env.PAGE ? ["--disable-features=LocalNetworkAccessChecks,PrivateNetworkAccessForNavigations,PrivateNetworkAccessForIframes,BlockInsecurePrivateNetworkRequests"] : [];
const browser = await chromium.launch({ executablePath: CHROMIUM, args: ["--no-sandbox", ...asIfServed] });
const counts = { passed: 0, flaky: 0, failed: 0, skipped: 0 };
const begun = performance.now();
for (const story of stories) counts[await result(story)] += 1;
await browser.close();
await server.end();
if (stories.length === 0) console.error(`no story's name contains ${wanted.join(" or ")}`);
console.log(`${counts.passed + counts.flaky} passed (${counts.flaky} flaky), ${counts.failed} failed, ${counts.skipped} skipped, in ${((performance.now() - begun) / 1000).toFixed(0)} s`);
process.exitCode = counts.failed || stories.length === 0 ? 1 : 0;

/** Tells a story, and once more when it fails, because a machine that is busy may be too slow once: what fails twice fails. */
async function result(story) {
  const first = await told(story);
  if (!first.error) {
    console.log(first.skipped ? `skip  ${story.name}: ${first.skipped}` : `ok    ${story.name} (${first.seconds} s)`);
    return first.skipped ? "skipped" : "passed";
  }
  complain("TRY 1", story, first);
  await server.revive();
  await server.clear();
  const second = await told(story);
  if (second.error) complain("FAIL ", story, second);
  else console.error(`FLAKY ${story.name} (${second.seconds} s): it failed once, as told above, and then not`);
  return second.error ? "failed" : "flaky";
}

function complain(word, story, { error, seconds, reports }) {
  console.error([`${word} ${story.name} (${seconds} s)`, error.stack ?? error, ...reports, server.errors && `server: ${server.errors.slice(-2000)}`].filter(Boolean).join("\n"));
}

/** One telling, by visitors of its own. */
async function told(story) {
  const started = performance.now();
  const visitors = [];
  const visit = async (options) => {
    const visitor = await Visitor.come(browser, server, options);
    visitors.push(visitor);
    return visitor;
  };
  const seconds = () => ((performance.now() - started) / 1000).toFixed(1);
  let late;
  try {
    const limit = new Promise((_, failed) => (late = setTimeout(() => failed(new Error(`longer than ${STORY_MS / 1000} s`)), STORY_MS)));
    const skipped = missing.get(story.agent);
    const outcome = skipped ? { skipped } : await Promise.race([story.tell({ server, visit, pictures }), limit]);
    for (const visitor of visitors) visitor.assertClean();
    if (outcome?.skipped && process.env.E2E_STRICT) throw new Error(outcome.skipped);
    return { skipped: outcome?.skipped, seconds: seconds() };
  } catch (error) {
    const picture = (at) => join(tmpdir(), `warren-story-${story.name.replace(/\W+/g, "-").slice(0, 80)}-${at}.png`);
    const reports = await Promise.all(visitors.map((visitor, at) => visitor.report(picture(at))));
    return { error, reports, seconds: seconds() };
  } finally {
    clearTimeout(late);
    for (const visitor of visitors) await visitor.leave();
  }
}
