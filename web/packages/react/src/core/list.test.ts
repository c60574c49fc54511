import { expect, test } from "vitest";
import type { SessionListItem, SessionsChanged } from "../wire/types";
import { placed } from "./list";

const session = (sessionId: string, lastActivity: number, type = "builtin") =>
  ({ sessionId, lastActivity, type }) as SessionListItem;
const news = (change: SessionsChanged["change"], item: SessionListItem): SessionsChanged => ({
  type: "sessions_changed", change, sessionId: item.sessionId, session: change === "erased" ? undefined : item,
});

const list = [session("a", 30), session("b", 20), session("c", 10)];
const ids = (sessions: readonly SessionListItem[] | null) => sessions?.map((item) => item.sessionId);

test("a session that changed moves to its place, a new one comes in, an erased one goes", () => {
  expect(ids(placed(list, news("changed", session("c", 40)), {}))).toEqual(["c", "a", "b"]);
  expect(ids(placed(list, news("created", session("d", 25)), {}))).toEqual(["a", "d", "b", "c"]);
  expect(ids(placed(list, news("erased", session("b", 0)), {}))).toEqual(["a", "c"]);
});

test("whether a session matches a search only the server can tell", () => {
  expect(placed(list, news("changed", session("c", 40)), { q: "x" })).toBeNull();
  expect(placed(list, news("changed", session("z", 40)), {})).toBeNull();
  expect(ids(placed(list, news("created", session("d", 40, "codex")), { type: "builtin" }))).toEqual(["a", "b", "c"]);
});
