import { expect, test } from "vitest";
import { parse, sessionPath } from "./router";

test("an address names the session, its tab and nothing it does not know", () => {
  expect(parse("/", "")).toEqual({ at: "home" });
  expect(parse("/doctor", "")).toEqual({ at: "doctor" });
  expect(parse("/sessions/a%2Fb", "?tab=versions")).toEqual({
    at: "session", sessionId: "a/b", tab: "versions", subagent: null,
  });
  expect(parse("/sessions/1", "?tab=nonsense")).toEqual({
    at: "session", sessionId: "1", tab: null, subagent: null,
  });
  expect(parse("/sessions/1/more", "")).toEqual({ at: "unknown", path: "/sessions/1/more" });
  expect(sessionPath("a/b", "files")).toBe("/sessions/a%2Fb?tab=files");
});
