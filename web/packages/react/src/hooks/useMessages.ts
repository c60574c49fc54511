import { MAIN } from "../core/state";
import type { Block } from "../wire/types";
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
  return { items, pending, status };
}

/** One block, live. */
export function useBlock(sessionId: string, blockId: string, conversation: string = MAIN): Block | undefined {
  return useLive(sessionId, [`block:${conversation}/${blockId}`], (store) => store.block(conversation, blockId));
}
