import { useLive, useResource, useWarrenClient, type ApprovalItem } from "@warren/react";

const NONE: readonly ApprovalItem[] = [];

/** What agents of all sessions ask and nobody answered yet, `null` until it is known; read again whenever `stamp` changes. */
export function useAllAsked(stamp: unknown): readonly ApprovalItem[] | null {
  const client = useWarrenClient();
  const asked = useResource("asking", () => client.approvals({ status: "pending" }), stamp);
  return asked.data?.approvals ?? null;
}

/** The same, for those to whom unknown is none. */
export const useAsking = (stamp: unknown): readonly ApprovalItem[] => useAllAsked(stamp) ?? NONE;

/** The same of one session, live. */
export function useWaitingHere(sessionId: string): number {
  return useLive(sessionId, ["approvals"], (store) => store.state.approvals.values().filter((one) => !one.resolution).length);
}
