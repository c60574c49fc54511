// What the parts of a conversation need from the page around them.
import { useLive, type Block, type SessionStore } from "@warren/react";
import { createContext, use, type RefObject } from "react";
import type { Answer } from "../approvals/ApprovalCard";

export interface Chat {
  store: SessionStore;
  agentName: string;
  /** Subagents whose request waits for a person. */
  waitingIn: ReadonlySet<string>;
  /** Calls that wait for a person's leave. */
  held: ReadonlySet<string>;
  /** Calls that a person denied. */
  denied: ReadonlySet<string>;
  nameOf: (conversationId: string) => string;
  openBeside: (conversationId: string) => void;
  openDiff: (version: number) => void;
  openArtifact: (id: string) => void;
  /** Nothing for those who may only read. */
  answer: Answer | null;
  /** Takes back the rule that the answer to a request granted. */
  withdraw: ((approvalId: string) => Promise<unknown>) | null;
  fork: ((version: number) => void) | null;
  again: (() => void) | null;
  back: ((version: number) => void) | null;
  /** Puts a message that was sent into the composer, to be changed and sent again. */
  edit: ((runId: string | null, text: string) => void) | null;
  resend: (key: string) => void;
  discard: (key: string) => void;
  /** Scrolls to the end and follows; set by the conversation. */
  end: RefObject<() => void>;
}

export const ChatContext = createContext<Chat | null>(null);

export function useChat(): Chat {
  const chat = use(ChatContext);
  if (!chat) throw new Error("this part belongs into a conversation");
  return chat;
}

const NONE: readonly Block[] = [];

/** The blocks of a thread, live. */
export function useThreadBlocks(conversationId: string): readonly Block[] {
  const { store } = useChat();
  return useLive(
    store.sessionId,
    ["log", "status", `order:${conversationId}`],
    ({ state }) => (conversationId === "main" ? state.main : state.threads.get(conversationId))?.values() ?? NONE,
  );
}
