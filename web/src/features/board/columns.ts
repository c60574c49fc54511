/** All sessions by what a person has to do: answer, wait, or look at what is done. Pure. */
import type { ApprovalItem, SessionListItem } from "@warren/react";
import { isArchived, isPinned } from "../sessions/marks";
import { lineOf, stateOf } from "../sessions/families";
import type { State } from "~/ui/Dot";

export type Card = { session: SessionListItem; state: State; line: string };
export type Column = { title: "Needs you" | "Running" | "Done"; cards: Card[]; none: string };

export function columnsOf(sessions: readonly SessionListItem[], asking: readonly ApprovalItem[]): Column[] {
  const asks = new Map(asking.map((approval) => [approval.sessionId, approval]));
  const cards = sessions.filter((session) => !isArchived(session)).map((session): Card => {
    const state = stateOf(session, asks.get(session.sessionId));
    return { session, state, line: lineOf(session, state, asks.get(session.sessionId)) };
  });
  const latestFirst = (a: Card, b: Card) => Number(isPinned(b.session)) - Number(isPinned(a.session)) || b.session.lastActivity - a.session.lastActivity;
  const of = (...states: State[]) => cards.filter((card) => states.includes(card.state)).sort(latestFirst);
  return [
    // A failed run waits for somebody as a question does.
    { title: "Needs you", cards: of("wait", "fail"), none: "No requests and no failed runs" },
    { title: "Running", cards: of("run", "boot"), none: "No agents running" },
    { title: "Done", cards: of("idle"), none: "No finished sessions" },
  ];
}
