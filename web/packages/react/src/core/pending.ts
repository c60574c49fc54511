// Messages that were sent from here and are not in the log yet.
import type { Content, Event, WhenBusy } from "../wire/types";

export type PendingMessage = {
  /** Names it in the page for as long as it is shown, before and after the server knows it. */
  key: string;
  content: Content;
  at: number;
  runId?: string;
  /** What was asked for in case a run is in progress. */
  whenBusy?: WhenBusy | null;
  state: "sending" | "sent" | "failed";
  error?: unknown;
};

const same = (a: Content, b: Content) => JSON.stringify(a) === JSON.stringify(b);

/** The pending message that a user's block confirms: the one of its run, else the oldest with the same words. */
export function confirmedBy(pending: readonly PendingMessage[], event: Event): PendingMessage | undefined {
  if (event.type !== "block_start" && event.type !== "block_complete") return undefined;
  if (event.block.type !== "user_message" || (event.conversationId ?? "main") !== "main") return undefined;
  const { content } = event.block;
  const open = pending.filter((message) => message.state !== "failed");
  return (
    open.find((message) => message.runId !== undefined && message.runId === event.runId) ??
    open.find((message) => same(message.content, content))
  );
}

/** A run that was announced before the answer to the call arrived. */
export function announcedBy(pending: readonly PendingMessage[], event: Event): PendingMessage | undefined {
  if (event.type !== "run_queued" && event.type !== "run_started") return undefined;
  const content = event.type === "run_queued" ? event.content : event.input;
  return pending.find((message) => message.runId === undefined && message.state === "sending" && same(message.content, content));
}
