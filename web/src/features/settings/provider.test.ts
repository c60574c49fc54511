import type { ProviderItem, ProviderTested } from "@warren/react";
import { expect, it } from "vitest";
import { keyWords, testWords } from "./provider";

const item = (more: Partial<ProviderItem>): ProviderItem => ({ name: "anthropic", label: "Anthropic", baseUrl: "https://a.test", hasKey: false, isSet: false, isDemo: false, variable: "A_KEY", ...more });

it("says where a key comes from and never more of it than its end", () => {
  expect(keyWords(item({ isDemo: true }))).toBe("none: only the demo model answers");
  expect(keyWords(item({}))).toBe("not needed");
  expect(keyWords(item({ isSet: true }))).toBe("no key, stored here");
  expect(keyWords(item({ hasKey: true, keySource: "environment", keyEnding: "wxyz" }))).toBe("ends in wxyz, from A_KEY");
  expect(keyWords(item({ hasKey: true, keySource: "config" }))).toBe("set, from the configuration");
  expect(keyWords(item({ hasKey: true, keySource: "page", keyEnding: "wxyz", isSet: true }))).toBe("ends in wxyz, stored here");
});

it("says how a test went, and why it failed", () => {
  const tested = (status: ProviderTested["status"], models?: number): ProviderTested => ({ status, models, message: "what happened", hint: "what to do" });
  expect(testWords("testing")).toEqual({ look: "", text: "Testing…" });
  expect(testWords(tested("ok", 1))).toEqual({ look: "acc", text: "OK, 1 model" });
  expect(testWords(tested("ok", 12))).toEqual({ look: "acc", text: "OK, 12 models" });
  expect(testWords(tested("wrongKey"))).toEqual({ look: "bad", text: "Wrong key", why: "what happened: what to do" });
  expect(["noKey", "wrongUrl", "unreachable", "failed"].map((status) => testWords(tested(status as ProviderTested["status"])).text)).toEqual(["No key", "Wrong base URL", "Unreachable", "Provider failed"]);
  expect(testWords({ failed: "offline" })).toEqual({ look: "bad", text: "Not tested", why: "offline" });
});
