import { useLive, useWarrenClient, type SessionState } from "@warren/react";
import { useEffect, useRef } from "react";
import { usePage } from "../shell/page";

/** Says finished sentences, requests and ends of runs to screen readers; never text that is still growing. */
export function useNews(sessionId: string) {
  const { announce } = usePage();
  const store = useWarrenClient().store(sessionId);
  const runs = useLive(sessionId, ["runs"], (live) => live.state.runs.values());
  const approvals = useLive(sessionId, ["approvals"], (live) => live.state.approvals.values());
  const last = useRef<{ asks: number; status: string | undefined } | null>(null);
  const run = runs.at(-1);
  const open = approvals.filter((approval) => !approval.resolution);
  useEffect(() => {
    const before = last.current;
    last.current = { asks: open.length, status: run?.status };
    if (!before) return;
    if (open.length > before.asks) announce(`The agent asks: ${open.at(-1)!.title}`);
    else if (run && run.status !== before.status) announce(sentenceOf(run.status, store.state));
  }, [open.length, run?.status, announce]);
}

function sentenceOf(status: string, state: SessionState): string {
  if (status === "running") return "The agent works.";
  if (status === "failed") return "Run failed.";
  if (status === "interrupted") return "Run stopped.";
  if (status === "queued") return "Message queued.";
  const said = state.main.values().findLast((block) => block.type === "assistant_text");
  return said?.type === "assistant_text" ? said.content.slice(0, 500) : "Run done.";
}
