import type { ApprovalItem, SessionListItem } from "@warren/react";
import { expect, it } from "vitest";
import { asksFirst, dayOf, groupsOf, inOrder, numbersOf } from "./families";

const session = (sessionId: string, more: Partial<SessionListItem> = {}): SessionListItem => ({
  sessionId, type: "builtin", agentProfileReference: "default", createdAt: 0, lastActivity: 0, metadata: {}, options: {},
  projectId: "p", workspaceId: "w", version: 1, lastSeq: 1, runtime: { isLoaded: false, sandbox: null }, ...more,
});
const asks = (sessionId: string): ApprovalItem => ({ sessionId, title: "Run ls" }) as ApprovalItem;
const fork = (sessionId: string, of: string, more: Partial<SessionListItem> = {}) => session(sessionId, { forkedFrom: { sessionId: of, version: 2 }, ...more });

it("puts forks under what they were forked from, and families where their most urgent member belongs", () => {
  const sessions = [session("a"), fork("b", "a", { activeRunId: "r" }), fork("c", "b"), session("d"), fork("e", "gone")];
  const groups = groupsOf(sessions, [asks("d")], () => "Today");
  expect(groups.map((group) => [group.title, group.members.map((member) => member.session.sessionId)])).toEqual([
    ["Needs you", ["d"]], ["Running", ["a"]], ["Today", ["e"]],
  ]);
  expect(inOrder(groups).map((one) => one.sessionId)).toEqual(["d", "a", "b", "c", "e"]);
});

it("says what each is doing", () => {
  const starting = { isLoaded: true, sandbox: { sandboxId: "s", status: "starting" as const, restartCount: 0, lastHealthCheck: 0, statusMessage: "Restoring v4…" } };
  const line = (one: SessionListItem, asking: ApprovalItem[] = []) => groupsOf([one], asking, () => "Today")[0]!.members[0]!;
  expect(line(session("a"), [asks("a")])).toMatchObject({ state: "wait", line: "Asks: Run ls" });
  expect(line(session("a", { activeRunId: "r", runtime: starting }))).toMatchObject({ state: "boot", line: "Restoring v4…" });
  expect(line(fork("a", "x", { version: 3 }))).toMatchObject({ state: "idle", line: "Forked at v2 · now v3" });
});

it("names days from the reader's midnight", () => {
  const now = new Date(2026, 5, 14, 0, 30).getTime();
  expect([0, 1, 24, 100, 500].map((hours) => dayOf(now - hours * 3_600_000, now))).toEqual(["Today", "Yesterday", "Yesterday", "This week", "Earlier"]);
});

it("numbers sessions of one name by age, the first without a number", () => {
  const sessions = [session("3", { name: "Shop" }), session("2", { name: "Other" }), session("1", { name: "Shop" }), session("4", { name: " Shop " })];
  expect([...numbersOf(sessions)]).toEqual([["3", 2], ["4", 3]]);
});

it("knows which sessions ask before they act", () => {
  expect([session("a"), session("b", { options: { permissionMode: "ask" } })].map(asksFirst)).toEqual([false, true]);
});
