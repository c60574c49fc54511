// Every pane that reads something: it says that it could not, offers to try again, and reads when the line is back.
import { WarrenClient, WarrenProvider } from "@warren/react";
import { act, type ReactNode } from "react";
import { createRoot } from "react-dom/client";
import { afterEach, expect, test } from "vitest";
import { FakeServer, settle } from "../../../packages/react/src/testing/fake";
import { ActivityPane } from "../activity/ActivityPane";
import { ArtifactsPane } from "../artifacts/ArtifactsPane";
import { FilesPane } from "../files/FilesPane";
import { OverviewPage } from "../overview/OverviewPage";
import { PageContext } from "../shell/page";
import { PersonContext } from "../shell/person";
import { ProfilesBox } from "../settings/ProfilesBox";
import { TokensBox } from "../settings/TokensBox";
import { Sidebar } from "../sessions/Sidebar";
import { StartPage } from "../sessions/StartPage";
import { VersionsPane } from "../versions/VersionsPane";
import { lazily } from "~/ui/lazily";

(globalThis as { IS_REACT_ACT_ENVIRONMENT?: boolean }).IS_REACT_ACT_ENVIRONMENT = true;

const usage = { inputTokens: 1, outputTokens: 1, cacheReadTokens: 0, cacheWriteTokens: 0, thinkingTokens: 0, estimatedTokens: 0, totalTokens: 2, costUSD: 0.5, model: null };
const at = "2026-01-01T00:00:00.000Z";
const file = { name: "notes.txt", path: "notes.txt", kind: "file", sizeBytes: 5, mode: 420, modifiedAt: at, etag: "1" };

function serverThatKnows(): FakeServer {
  const server = new FakeServer();
  const session = { ...server.session(), name: "Ferry prices" };
  Object.assign(server.answers, {
    "GET /api/sessions": () => ({ sessions: [session] }),
    "GET /api/sessions/s/versions": () => ({ versions: [{ version: 1, base: 0, cause: "run", seq: 1, createdAt: at, sizeBytes: 1, blocks: 1, usage, costUSD: 0.5, files: { added: 1, changed: 0, removed: 0 }, label: "First light" }], head: { version: 1, dirty: false } }),
    "GET /api/sessions/s/versions/1/diff": () => ({ from: 0, to: 1, files: [], blocks: [] }),
    "GET /api/sessions/s/replays": () => ({ replays: [] }),
    "GET /api/sessions/s/artifacts": () => ({ artifacts: [{ id: "a", kind: "markdown", name: "method.md", path: "outputs/method.md", sizeBytes: 3 }] }),
    "GET /api/sessions/s/artifacts/a/content": () => "text",
    "GET /api/sessions/s/artifacts/a/versions": () => ({ versions: [] }),
    "GET /api/sessions/s/fs": () => ({ path: "", source: "live", entries: [file] }),
    "GET /api/sessions/s/events": () => ({ events: [{ seq: 1, sessionId: "s", conversationId: "main", timestamp: at, type: "session_created", agentType: "builtin", profile: "default" }], lastSeq: 1, head: 1 }),
    "GET /api/usage": () => ({ rows: [{ group: "builtin", runs: 1, usage }], total: usage }),
    "GET /api/agents": () => ({ agents: [{ name: "builtin", isAgent: true, ready: true }] }),
    "GET /api/doctor": () => ({ isolation: { backend: "local", usable: true, isolation: null, hints: [] }, agents: [], models: [] }),
    "GET /api/sandboxes": () => ({ sandboxes: [] }),
    "GET /api/profiles": () => ({ profiles: [{ id: "reviewer", name: "Reviewer" }] }),
    "GET /api/tokens": () => ({ tokens: [{ tokenId: "t", name: "harbour office", scope: "admin", createdAt: at }] }),
  });
  return server;
}

const person = { name: "mara", scope: "admin", mayRun: true } as never;
const page = { openPalette() {}, openKeys() {}, startNew() {}, toggleDrawer() {}, announce() {}, order: { current: [] }, session: { current: null } } as never;
let leave = async () => {};
afterEach(() => leave());

async function shown(server: FakeServer, what: ReactNode) {
  const box = document.body.appendChild(document.createElement("div"));
  const root = createRoot(box);
  const client = new WarrenClient({ transport: server, frame: (run) => run() });
  leave = async () => {
    await act(async () => root.unmount());
    box.remove();
  };
  await act(async () => root.render(<WarrenProvider client={client}><PersonContext value={person}><PageContext value={page}>{what}</PageContext></PersonContext></WarrenProvider>));
  await act(settle);
  return { box, tries: () => [...box.querySelectorAll("button")].filter((button) => button.textContent === "Try again") };
}

const PANES: [string, ReactNode, string][] = [
  ["versions", <VersionsPane sessionId="s" />, "First light"],
  ["artifacts", <ArtifactsPane sessionId="s" />, "method.md"],
  ["files", <FilesPane sessionId="s" />, "notes.txt"],
  ["overview", <OverviewPage />, "$0.50"],
  ["sessions", <Sidebar />, "Ferry prices"],
  ["start", <StartPage />, "Built-in"],
  ["profiles", <ProfilesBox />, "Reviewer"],
  ["tokens", <TokensBox />, "harbour office"],
];

test.each(PANES)("%s: what failed is offered again, and read when the line is back", async (_name, pane, data) => {
  const server = serverThatKnows();
  server.isDown = true;
  const { box, tries } = await shown(server, pane);
  expect(box.querySelector("[role=alert]")?.textContent).toContain("The server cannot be reached.");
  expect(tries().length).toBeGreaterThan(0);
  expect(box.textContent).not.toContain(data);
  server.isDown = false;
  await act(async () => {
    dispatchEvent(new Event("online"));
    await settle();
  });
  await act(settle);
  expect(box.textContent).toContain(data);
  expect(tries()).toEqual([]);
});

test("versions: the button reads at once too", async () => {
  const server = serverThatKnows();
  server.isDown = true;
  const { box, tries } = await shown(server, <VersionsPane sessionId="s" />);
  server.isDown = false;
  await act(async () => {
    tries()[0]!.click();
    await settle();
  });
  expect(box.textContent).toContain("First light");
});

test("activity: the log is read when the session can be", async () => {
  const server = serverThatKnows();
  const answer = server.answers["GET /api/sessions/s/events"]!;
  server.loadedSeq = 1;
  server.answers["GET /api/sessions/s/events"] = () => { throw new TypeError("no answer"); };
  const { box, tries } = await shown(server, <ActivityPane sessionId="s" />);
  await act(settle);
  expect(box.textContent).toContain("The log could not be read");
  server.answers["GET /api/sessions/s/events"] = answer;
  await act(async () => {
    tries()[0]!.click();
    await settle();
  });
  expect(box.textContent).toContain("Session created");
});

test("a part of the page that could not be loaded is loaded when the line is back", async () => {
  let isDown = true;
  const Part = lazily(async () => {
    if (isDown) throw new TypeError("Failed to fetch dynamically imported module");
    return () => <p>the part</p>;
  });
  const { box, tries } = await shown(serverThatKnows(), <Part />);
  expect(tries().length).toBe(1);
  isDown = false;
  await act(async () => {
    dispatchEvent(new Event("online"));
    await settle();
  });
  expect(box.textContent).toBe("the part");
});
