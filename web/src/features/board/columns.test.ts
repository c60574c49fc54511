import type { ApprovalItem, SessionListItem } from "@warren/react";
import { expect, it } from "vitest";
import { columnsOf } from "./columns";

const session = (sessionId: string, more: object = {}) => ({ sessionId, name: sessionId, version: 1, lastActivity: 1, metadata: {}, runtime: {}, ...more }) as unknown as SessionListItem;

it("puts every session where a person looks for it", () => {
  const sessions = [
    session("old"),
    session("asks", { activeRunId: "r" }),
    session("works", { activeRunId: "r" }),
    session("failed", { lastRunStatus: "failed" }),
    session("pinned", { metadata: { "warren.pinned": true } }),
    session("new", { lastActivity: 9 }),
    session("archived", { metadata: { "warren.archived": true } }),
  ];
  const asking = [{ sessionId: "asks", title: "May I?" } as ApprovalItem];
  const found = columnsOf(sessions, asking).map((column) => [column.title, column.cards.map((card) => card.session.sessionId)]);
  expect(found).toEqual([["Needs you", ["asks", "failed"]], ["Running", ["works"]], ["Done", ["pinned", "new", "old"]]]);
});
