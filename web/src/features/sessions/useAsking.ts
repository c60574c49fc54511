import { useLive, useResource, useWarrenClient, type ApprovalItem } from "@warren/react";

const NONE: readonly ApprovalItem[] = [];

/** What agents of all sessions ask and nobody answered yet; read again whenever `stamp` changes. */
export function useAsking(stamp: unknown): readonly ApprovalItem[] {
  const client = useWarrenClient();
  const asked = useResource("asking", () => client.approvals({ status: "pending" }), stamp);
  return asked.data?.approvals ?? NONE;
}

/** The same of one session, live. */
export function useWaitingHere(sessionId: string): number {
  return useLive(sessionId, ["approvals"], (store) => store.state.approvals.values().filter((one) => !one.resolution).length);
}
