import { expect, test } from "vitest";
import { artifactPath, parse, sessionPath, versionPath } from "./router";

test("an address names the session, its tab and nothing it does not know", () => {
  expect(parse("/", "")).toEqual({ at: "home" });
  expect(parse("/doctor", "")).toEqual({ at: "doctor" });
  expect(parse("/sessions/a%2Fb", "?tab=versions")).toEqual({
    at: "session", sessionId: "a/b", tab: "versions", subagent: null, version: null, artifact: null,
  });
  expect(parse("/sessions/1", "?tab=nonsense")).toEqual({
    at: "session", sessionId: "1", tab: null, subagent: null, version: null, artifact: null,
  });
  expect(parse("/sessions/1/more", "")).toEqual({ at: "unknown", path: "/sessions/1/more" });
  expect(parse("/sessions/1", versionPath("1", 3).slice(11))).toMatchObject({ tab: "versions", version: 3 });
  expect(parse("/sessions/1", artifactPath("1", "a&b").slice(11))).toMatchObject({ tab: "artifacts", artifact: "a&b" });
  expect(parse("/sessions/1", "?tab=versions&version=-1")).toMatchObject({ version: null });
  expect(sessionPath("a/b", "files")).toBe("/sessions/a%2Fb?tab=files");
});
