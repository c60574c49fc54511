import type { RuntimeSessionData } from "@warren/react";
import { expect, it } from "vitest";
import { fileName } from "./exportSession";
import { isArchived, isPinned, marked } from "./marks";
import { toMarkdown } from "./toMarkdown";

const at = "2026-01-01T10:00:00.000Z";

it("writes what was said and done in order, subagents with their own blocks", () => {
  const text = toMarkdown({
    sessionId: "s1", name: "Fix it", type: "builtin", version: 2, createdAt: Date.parse(at),
    blocks: [
      { type: "user_message", id: "m", timestamp: at, content: [{ text: "Please fix" }, { file: "/user-input/a.csv" }] },
      { type: "tool_use", id: "t", timestamp: at, toolName: "bash", toolUseId: "t", input: { command: "ls" }, status: "success" },
      { type: "tool_result", id: "r", timestamp: at, toolUseId: "t", output: "```\nx", isError: true },
      { type: "subagent", id: "s", timestamp: at, subagentId: "s", name: "Reviewer", input: "look", status: "success" },
      { type: "assistant_text", id: "a", timestamp: at, content: "Done." },
    ],
    subagents: [{ id: "s", blocks: [{ type: "assistant_text", id: "b", timestamp: at, content: "Looks good." }] }],
  } as unknown as RuntimeSessionData);
  expect(text).toBe(`# Fix it

Agent: builtin · version 2 · ${at}

## You (${at})

Please fix

Attached: \`/user-input/a.csv\`

**Run**

\`\`\`sh
ls
\`\`\`

Failed:

\`\`\`\`
\`\`\`
x
\`\`\`\`

## Subagent Reviewer (${at})

### Agent (${at})

Looks good.

## Agent (${at})

Done.
`);
});

it("names files as every system takes them", () => {
  expect(fileName("a/b: c?*")).toBe("a-b- c");
  expect(fileName("../..")).toBe("session");
  expect(fileName("Prüfung 2025")).toBe("Prüfung 2025");
});

it("marks a session and keeps the rest of its data", () => {
  const pinned = marked({ own: 1 }, "pinned", true);
  expect(pinned).toEqual({ own: 1, "warren.pinned": true });
  expect(marked(pinned, "pinned", false)).toEqual({ own: 1 });
  expect([isPinned({ metadata: pinned }), isArchived({ metadata: pinned })]).toEqual([true, false]);
});
