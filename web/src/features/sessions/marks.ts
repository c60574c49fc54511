/** What a person did with a session in their list: kept in the session's own data, so that it is the same in every browser. */
import type { SessionListItem, WarrenClient } from "@warren/react";

export type ListMark = "pinned" | "archived";

const KEY: Record<ListMark, string> = { pinned: "warren.pinned", archived: "warren.archived" };

const has = (session: Pick<SessionListItem, "metadata">, mark: ListMark): boolean => session.metadata?.[KEY[mark]] === true;

export const isPinned = (session: Pick<SessionListItem, "metadata">): boolean => has(session, "pinned");
export const isArchived = (session: Pick<SessionListItem, "metadata">): boolean => has(session, "archived");

/** A session's data with a mark set or removed; all else stays. */
export function marked(metadata: Record<string, unknown> | undefined, mark: ListMark, on: boolean): Record<string, unknown> {
  const { [KEY[mark]]: _old, ...rest } = metadata ?? {};
  return on ? { ...rest, [KEY[mark]]: true } : rest;
}

/** Sets or removes a mark. What is archived is no longer pinned. */
export function setMark(client: WarrenClient, session: SessionListItem, mark: ListMark, on: boolean): Promise<unknown> {
  const metadata = marked(session.metadata, mark, on);
  return client.patchSession(session.sessionId, { metadata: mark === "archived" && on ? marked(metadata, "pinned", false) : metadata });
}
