// Parts of conversations that are loaded after the session itself, put into its state as if they had always been there.
import type { Block, LogLine, MessagePage } from "../wire/types";
import { blockTopic, orderTopic, placeOf, reduce, type Topic } from "./reduce";
import { emptyState, MAIN, subagentsOf, threadOf, type SessionState } from "./state";

type Event = Exclude<LogLine, { type: "log_compacted" }>;

/** The position at which the blocks of a page are current. */
export const currentAt = (page: MessagePage, state: SessionState): number => page.lastSeq ?? state.seq;

/** Puts the newest blocks of a thread in place of what events said about it; `log` has the lines folded so far. */
export function putNewest(state: SessionState, conversation: string, page: MessagePage, log: readonly LogLine[], touched: Set<Topic>): void {
  const missed = eventsOf(log, conversation, currentAt(page, state), state.seq);
  const folded = emptyState();
  const thread = threadOf(folded, conversation);
  if (page.previousCursor != null) folded.cut.add(conversation);
  for (const block of page.blocks) thread.put(block.id, block);
  for (const event of missed) reduce(folded, event);
  setThread(state, conversation, folded);
  state.unread.delete(conversation);
  state.unplaced = [...state.unplaced.filter((place) => place.conversation !== conversation), ...folded.unplaced];
  setCut(state, conversation, page);
  cover(state, conversation, null, page);
  for (const [id, subagent] of subagentsOf(page.blocks)) if (!state.subagents.has(id)) state.subagents.put(id, subagent);
  touched.add(orderTopic(conversation)).add("subagents");
  for (const id of thread.keys()) touched.add(blockTopic(conversation, id));
}

/** Puts the blocks before the oldest known one in front of it. */
export function putEarlier(state: SessionState, conversation: string, page: MessagePage, log: readonly LogLine[], touched: Set<Topic>): void {
  const known = threadOf(state, conversation);
  const folded = emptyState();
  const fresh = threadOf(folded, conversation);
  for (const block of page.blocks) if (!known.has(block.id)) fresh.put(block.id, block);
  const ids = new Set(fresh.keys());
  // What was said about these blocks before they were known, and what was discarded meanwhile.
  for (const event of eventsOf(log, conversation, currentAt(page, state), state.seq)) {
    if (ids.has(placeOf(event)?.id ?? "")) reduce(folded, event);
  }
  const blocks = page.blocks.flatMap((block) => known.get(block.id) ?? fresh.get(block.id) ?? []);
  known.lead(blocks.map((block) => [block.id, block]));
  const placed = new Set(blocks.map((block) => block.id));
  state.unplaced = state.unplaced.filter((place) => place.conversation !== conversation || !placed.has(place.id));
  setCut(state, conversation, page);
  cover(state, conversation, ids, page);
  const called = subagentsOf(blocks);
  if (called.length > 0) touched.add("subagents");
  state.subagents.lead(called);
  touched.add(orderTopic(conversation));
  for (const id of ids) touched.add(blockTopic(conversation, id));
}

/** Takes blocks away again that were put at the end and are older than everything that was loaded. */
export function removeOlder(state: SessionState, conversation: string, asked: readonly string[], older: readonly Block[], touched: Set<Topic>): void {
  const isAsked = new Set(asked);
  const isUnplaced = new Set(state.unplaced.filter((place) => place.conversation === conversation).map((place) => place.id));
  state.unplaced = state.unplaced.filter((place) => place.conversation !== conversation || !isAsked.has(place.id));
  const thread = threadOf(state, conversation);
  for (const { id } of older) {
    if (!isUnplaced.has(id) || !thread.remove(id)) continue;
    touched.add(orderTopic(conversation)).add(blockTopic(conversation, id));
  }
}

function setThread(state: SessionState, conversation: string, from: SessionState) {
  if (conversation === MAIN) state.main = from.main;
  else state.threads.put(conversation, threadOf(from, conversation));
}

function setCut(state: SessionState, conversation: string, page: MessagePage) {
  if (page.previousCursor != null) state.cut.add(conversation);
  else state.cut.delete(conversation);
}

/** What the stream will still say about these blocks is in them already. */
function cover(state: SessionState, conversation: string, ids: ReadonlySet<string> | null, page: MessagePage) {
  const until = currentAt(page, state);
  if (until > state.seq) state.covered = [...state.covered, { conversation, ids, until }];
}

function eventsOf(log: readonly LogLine[], conversation: string, after: number, until: number): Event[] {
  const isOf = (line: LogLine): line is Event =>
    line.type !== "log_compacted" && line.seq > after && line.seq <= until && placeOf(line)?.conversation === conversation;
  return log.filter(isOf);
}
