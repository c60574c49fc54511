/** The list of sessions as families, forks under what they were forked from, in groups by what they need. Pure. */
import type { ApprovalItem, SessionListItem } from "@warren/react";
import { visible } from "~/lib/ansi";
import type { State } from "~/ui/Dot";
import { isPinned } from "./marks";

export interface Member {
  session: SessionListItem;
  state: State;
  /** What it is doing now, or how far it is. */
  line: string;
  /** Tells it from older ones of the same name: 2 for the second. */
  number: number | null;
  kids: Member[];
}

export interface Group {
  title: string;
  members: Member[];
}

/** A session's name, or what stands for it. */
export const nameOf = (session: Pick<SessionListItem, "name" | "sessionId">): string =>
  session.name?.trim() || `Session ${session.sessionId.slice(-6)}`;

/** Whether the agent asks before it acts; without a choice it acts by itself, inside the sandbox. */
export const asksFirst = (session: Pick<SessionListItem, "options">): boolean => (session.options as { permissionMode?: string } | undefined)?.permissionMode === "ask";

/** Numbers for sessions that have the name of an older one, by id: 2 for the second of a name, and so on. */
export function numbersOf(sessions: readonly Pick<SessionListItem, "name" | "sessionId">[]): ReadonlyMap<string, number> {
  const seen = new Map<string, number>();
  const numbers = new Map<string, number>();
  // Ids begin with the time.
  for (const session of [...sessions].sort((a, b) => (a.sessionId < b.sessionId ? -1 : 1))) {
    const n = (seen.get(nameOf(session)) ?? 0) + 1;
    seen.set(nameOf(session), n);
    if (n > 1) numbers.set(session.sessionId, n);
  }
  return numbers;
}

/** The state a person cares about. */
export function stateOf(session: SessionListItem, asks: ApprovalItem | undefined): State {
  if (asks) return "wait";
  const sandbox = session.runtime.sandbox?.status;
  if (session.activeRunId) return sandbox === "starting" ? "boot" : "run";
  if (sandbox === "starting") return "boot";
  return sandbox === "unhealthy" || session.lastRunStatus === "failed" ? "fail" : "idle";
}

/** What a row says under the name. */
export function lineOf(session: SessionListItem, state: State, asks: ApprovalItem | undefined): string {
  if (asks) return `Asks: ${visible(asks.title)}`;
  if (state === "boot") return session.runtime.sandbox?.statusMessage ?? "Starting sandbox…";
  if (state === "fail" && session.runtime.sandbox?.status === "unhealthy") return session.runtime.sandbox.statusMessage ?? "The sandbox does not answer";
  if (state === "fail") return "The last run failed";
  const fork = session.forkedFrom ? `Forked at v${session.forkedFrom.version}` : "";
  const version = session.version > 0 ? (fork ? `now v${session.version}` : `v${session.version}`) : fork ? "" : "No version yet";
  return [fork, state === "run" ? "Running" : "", version].filter(Boolean).join(" · ");
}

const URGENCY: Record<State, number> = { wait: 0, run: 1, boot: 1, fail: 2, idle: 2 };

const ORDER = ["Needs you", "Running", "Pinned"];

/** Groups of families: those that need somebody first, then those at work, those that were pinned, then by day. */
export function groupsOf(sessions: readonly SessionListItem[], asking: readonly ApprovalItem[], dayOf: (at: number) => string): Group[] {
  const asks = new Map(asking.map((approval) => [approval.sessionId, approval]));
  const members = new Map<string, Member>();
  const numbers = numbersOf(sessions);
  for (const session of sessions) {
    const asked = asks.get(session.sessionId);
    const state = stateOf(session, asked);
    members.set(session.sessionId, { session, state, line: lineOf(session, state, asked), number: numbers.get(session.sessionId) ?? null, kids: [] });
  }
  const roots: Member[] = [];
  for (const member of members.values()) {
    const parent = member.session.forkedFrom && members.get(member.session.forkedFrom.sessionId);
    if (parent && parent !== member) parent.kids.push(member);
    else roots.push(member);
  }
  const groups = new Map<string, Member[]>();
  const urgency = (member: Member): number => Math.min(URGENCY[member.state], ...member.kids.map(urgency));
  const latest = (member: Member): number => Math.max(member.session.lastActivity, ...member.kids.map(latest));
  for (const member of roots) {
    const title = ORDER[urgency(member)] === "Pinned" ? (isPinned(member.session) ? "Pinned" : dayOf(latest(member))) : ORDER[urgency(member)]!;
    groups.set(title, [...(groups.get(title) ?? []), member]);
  }
  const rank = (title: string) => (ORDER.includes(title) ? ORDER.indexOf(title) : ORDER.length);
  return [...groups].map(([title, list]) => ({ title, members: list })).sort((a, b) => rank(a.title) - rank(b.title));
}

/** The sessions in the order in which they are drawn, for stepping through. */
export function inOrder(groups: readonly Group[]): SessionListItem[] {
  const walk = (member: Member): SessionListItem[] => [member.session, ...member.kids.flatMap(walk)];
  return groups.flatMap((group) => group.members.flatMap(walk));
}

/** The heading of a day. */
export function dayOf(at: number, now: number): string {
  const midnight = (time: number) => new Date(time).setHours(0, 0, 0, 0);
  const days = Math.round((midnight(now) - midnight(at)) / 86_400_000);
  return days <= 0 ? "Today" : days === 1 ? "Yesterday" : days < 7 ? "This week" : "Earlier";
}
