import { useLive } from "./live";

/** The subagents of a session, in the order in which they were called. Their blocks: `useMessages(id, conversationId)`. */
export function useSubagents(sessionId: string) {
  return useLive(sessionId, ["subagents"], (store) => store.state.subagents.values());
}
