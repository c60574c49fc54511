import type { SessionListItem, WarrenClient } from "@warren/react";
import { nameOf } from "./families";
import { toMarkdown } from "./toMarkdown";

/** Downloads a whole session, with its subagents: as Markdown to read, as JSON to work with. */
export async function exportSession(client: WarrenClient, session: SessionListItem, form: "markdown" | "json") {
  const whole = await client.session(session.sessionId);
  const [text, type, extension] = form === "json" ? [JSON.stringify(whole, null, 2), "application/json", "json"] : [toMarkdown(whole), "text/markdown", "md"];
  const url = URL.createObjectURL(new Blob([text], { type }));
  const link = document.createElement("a");
  link.href = url;
  link.download = `${fileName(nameOf(session))}.${extension}`;
  link.click();
  // The browser has begun to read it by then.
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}

/** A name that every file system takes. */
export const fileName = (name: string): string => name.replace(/[^\p{L}\p{N}._ -]+/gu, "-").replace(/^[ .-]+|[ .-]+$/g, "").slice(0, 80) || "session";
