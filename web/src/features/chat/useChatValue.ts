import type { Approval, SessionListItem, SessionStore } from "@warren/react";
import { useMemo, type RefObject } from "react";
import { artifactPath, navigate, sessionPath, versionPath } from "~/lib/router";
import { agentName } from "~/ui/AgentMark";
import type { Asked } from "./ChatDialogs";
import type { Chat } from "./context";

type Given = {
  store: SessionStore;
  session: SessionListItem;
  approvals: readonly Approval[];
  /** Requests that nobody answered yet. */
  open: readonly Approval[];
  /** May send, stop and answer; the session takes messages. */
  mayRun: boolean;
  /** May fork: also from a session that has ended. */
  mayFork: boolean;
  running: boolean;
  retry: () => void;
  edit: Chat["edit"];
  ask: (asked: Asked) => void;
  end: RefObject<() => void>;
};

/** What the rows of a conversation need. It changes with runs and requests, never with a delta. */
export function useChatValue({ store, session, approvals, open, mayRun, mayFork, running, retry, edit, ask, end }: Given): Chat {
  const { sessionId, type } = session;
  const waitingIn = useMemo(() => new Set(open.map((one) => one.conversationId)), [open]);
  const held = useMemo(() => new Set(open.flatMap((one) => one.toolUseId ?? [])), [open]);
  const denied = useMemo(() => new Set(approvals.flatMap((one) => (one.resolution?.decision === "deny" && one.toolUseId ? [one.toolUseId] : []))), [approvals]);
  const lastRun = store.state.runs.values().at(-1);
  return useMemo(
    (): Chat => ({
      store,
      agentName: agentName(type),
      waitingIn,
      held,
      denied,
      nameOf: (conversation) => (conversation === "main" ? agentName(type) : (store.state.subagents.get(conversation)?.name ?? "A subagent")),
      openBeside: (conversation) => navigate(`${sessionPath(sessionId)}?subagent=${encodeURIComponent(conversation)}`),
      openDiff: (version) => navigate(versionPath(sessionId, version)),
      openArtifact: (id) => navigate(artifactPath(sessionId, id)),
      answer: mayRun ? (approvalId, decision, more) => store.client.answer(approvalId, { decision, ...more }) : null,
      withdraw: mayRun ? (approvalId) => store.client.withdrawRule(approvalId) : null,
      fork: mayFork ? (version) => ask({ about: "fork", version }) : null,
      again: mayRun && !running ? retry : null,
      back: mayRun && !running ? (version) => ask({ about: "restore", version }) : null,
      edit: mayRun ? edit : null,
      resend: (key) => void store.resend(key).catch(() => {}),
      discard: (key) => store.discard(key),
      end,
    }),
    // `retry` sends what the last run was about, so it is made again with each run.
    [store, sessionId, type, waitingIn, held, denied, mayRun, mayFork, running, lastRun?.runId, lastRun?.status],
  );
}
