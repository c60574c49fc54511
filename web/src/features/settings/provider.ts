// Model providers, in words. Pure.
import type { ProviderItem, ProviderTested } from "@warren/react";

/** What is known of a test: it goes on, it ended, or the server could not carry it out. */
export type Test = "testing" | ProviderTested | { failed: string };

/** Whether there is a key, and where it comes from. Never more of it than its end. */
export function keyWords({ hasKey, keyEnding, keySource, variable, isSet, isDemo }: ProviderItem): string {
  if (!hasKey) return isSet ? "no key, stored here" : isDemo ? "none: only the demo model answers" : "not needed";
  const ending = keyEnding ? `ends in ${keyEnding}` : "set";
  const source = { page: "stored here", environment: `from ${variable}`, config: "from the configuration" }[keySource ?? "config"];
  return `${ending}, ${source}`;
}

/** What a test says, as short as it can be said; the rest is in `why`. */
export function testWords(test: Test): { look: "acc" | "warn" | "bad" | ""; text: string; why?: string } {
  if (test === "testing") return { look: "", text: "Testing…" };
  if ("failed" in test) return { look: "bad", text: "Not tested", why: test.failed };
  const why = [test.message, test.hint].filter(Boolean).join(": ");
  switch (test.status) {
    case "ok":
      return { look: "acc", text: `OK, ${test.models ?? 0} ${test.models === 1 ? "model" : "models"}` };
    case "noKey":
      return { look: "warn", text: "No key", why };
    case "wrongKey":
      return { look: "bad", text: "Wrong key", why };
    case "wrongUrl":
      return { look: "bad", text: "Wrong base URL", why };
    case "unreachable":
      return { look: "bad", text: "Unreachable", why };
    case "failed":
      return { look: "bad", text: "Provider failed", why };
  }
}
