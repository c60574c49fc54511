import { useCallback } from "react";
import { MAIN } from "../core/state";
import type { Block } from "../wire/types";
import { useStore } from "../provider";
import { useLive } from "./live";

const NONE: readonly never[] = [];

/**
 * The order of a conversation's blocks, and the messages on their way. It changes when a block comes or goes, not when
 * one grows: each block is read where it is drawn, with `useBlock`.
 */
export function useMessages(sessionId: string, conversation: string = MAIN) {
  const items = useLive(sessionId, [`order:${conversation}`, "pending"], (store) => store.items(conversation));
  const pending = useLive(sessionId, ["pending"], (store) => (conversation === MAIN ? store.pending : NONE));
  const status = useLive(sessionId, ["status"], (store) => store.status);
  return { items, pending, status, ...useEarlier(sessionId, conversation) };
}

/** Whether a conversation has blocks before the oldest loaded one, how their loading stands, and how to load them. */
export function useEarlier(sessionId: string, conversation: string = MAIN) {
  const store = useStore(sessionId);
  const earlier = useLive(sessionId, [`earlier:${conversation}`, `order:${conversation}`, "status"], (live) => live.earlier(conversation));
  const loadEarlier = useCallback(() => store.loadEarlier(conversation), [store, conversation]);
  return { earlier, hasEarlier: earlier.state !== "none", loadEarlier };
}

/** One block, live. */
export function useBlock(sessionId: string, blockId: string, conversation: string = MAIN): Block | undefined {
  return useLive(sessionId, [`block:${conversation}/${blockId}`], (store) => store.block(conversation, blockId));
}
