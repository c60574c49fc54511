import { useLive, useWarrenClient, type SessionState } from "@warren/react";
import { useEffect, useRef } from "react";
import { usePage } from "../shell/page";

/** Says finished sentences, requests and ends of runs to screen readers; never text that is still growing. */
export function useNews(sessionId: string) {
  const { announce } = usePage();
  const store = useWarrenClient().store(sessionId);
  const runs = useLive(sessionId, ["runs"], (live) => live.state.runs.values());
  const approvals = useLive(sessionId, ["approvals"], (live) => live.state.approvals.values());
  const last = useRef<{ status: string | undefined } | null>(null);
  const told = useRef(new Set<string>());
  const run = runs.at(-1);
  const open = approvals.filter((approval) => !approval.resolution);
  useEffect(() => {
    const before = last.current;
    last.current = { status: run?.status };
    const asked = open.filter((approval) => !told.current.has(approval.approvalId));
    for (const { approvalId, title } of asked) {
      told.current.add(approvalId);
      announce(`The agent asks: ${title}. Press Alt A outside text fields to go to it.`, "urgent");
    }
    if (before && !asked.length && run && run.status !== before.status) announce(sentenceOf(run.status, store.state));
  }, [open.map((approval) => approval.approvalId).join(), run?.status, announce]);
}

function sentenceOf(status: string, state: SessionState): string {
  if (status === "running") return "The agent is working.";
  if (status === "failed") return "Run failed.";
  if (status === "interrupted") return "Run stopped.";
  if (status === "queued") return "Message queued.";
  const said = state.main.values().findLast((block) => block.type === "assistant_text");
  return said?.type === "assistant_text" ? said.content.slice(0, 500) : "Run completed.";
}
