import { useMemo } from "react";
import type { ApprovalAnswer } from "../wire/types";
import { useWarrenClient } from "../provider";
import { useLive } from "./live";

/** What a session's agent asks, newest last, and how to answer. */
export function useApprovals(sessionId: string) {
  const client = useWarrenClient();
  const approvals = useLive(sessionId, ["approvals"], (store) => store.state.approvals.values());
  const waiting = useMemo(() => approvals.filter((approval) => !approval.resolution), [approvals]);
  const answer = useMemo(
    () => (approvalId: string, given: ApprovalAnswer) => client.answer(approvalId, given),
    [client],
  );
  return { approvals, waiting, answer };
}
