import { useSessionList } from "@warren/react";
import { useEffect, useRef } from "react";
import { navigate, sessionPath } from "~/lib/router";
import { setWaitingElsewhere } from "./usePageTitle";
import { toast } from "~/ui/toasts";
import { nameOf } from "../sessions/families";
import { useAllAsked } from "../sessions/useAsking";

/** Says when a session that is not in view begins to wait for a person. */
export function useOthersNeedYou(current: string | null) {
  const { sessions, status } = useSessionList();
  const asking = useAllAsked(sessions);
  const known = useRef<Set<string> | null>(null);
  // An effect: toasts and the tab's title are outside of what is drawn here.
  useEffect(() => {
    // What was there when the page was opened is no news: the list says it.
    if (asking === null || status.state !== "ready") return;
    setWaitingElsewhere(asking.filter((approval) => approval.sessionId !== current).length);
    const before = known.current;
    known.current = new Set(asking.map((approval) => approval.approvalId));
    for (const approval of asking) {
      if (!before || before.has(approval.approvalId) || approval.sessionId === current) continue;
      const session = sessions.find((one) => one.sessionId === approval.sessionId);
      toast({
        title: `${session ? nameOf(session) : "A session"} needs you`,
        text: approval.title,
        icon: "hand",
        warn: true,
        action: { label: "Open", run: () => navigate(sessionPath(approval.sessionId)) },
      });
    }
  }, [asking, sessions, status, current]);
}
