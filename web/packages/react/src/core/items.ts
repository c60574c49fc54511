// Runs and requests of a session: read back as far as they are needed, in the shape the fold keeps.
import type { ApprovalItem, RunItem, RuntimeSessionData } from "../wire/types";
import type { WarrenClient } from "./client";
import { MAIN, type Approval, type Run } from "./state";

export function runOf(run: RunItem): Run {
  return {
    runId: run.runId,
    status: run.status,
    content: run.content,
    queuedAt: run.createdAt,
    startedAt: run.startedAt ?? undefined,
    endedAt: run.endedAt ?? undefined,
    baseVersion: run.baseVersion ?? undefined,
    version: run.version ?? undefined,
    usage: run.usage,
    costUSD: run.usage.costUSD,
    error: run.error ? { ...run.error, recoverable: true } : undefined,
  };
}

export function approvalOf(item: ApprovalItem): Approval {
  const { resolution } = item;
  return {
    ...item,
    conversationId: MAIN,
    runId: item.runId ?? undefined,
    resolution: resolution ? { ...resolution, approvalId: item.approvalId } : undefined,
  };
}

/** Lists are read in small parts at first: most often the newest few belong to the blocks that are shown. */
const FIRST_PART = 5;
const NEXT_PART = 50;

/** Part of a list, newest first, and where it goes on. */
export type Part<T> = { items: T[]; next: string | null };

/** Reads a list back from `cursor` until `isEnough`, or its end. */
async function readBack<T>(
  read: (query: { limit: number; cursor?: string }) => Promise<{ items: T[]; next?: string | null | undefined }>,
  cursor: string | null | undefined,
  isEnough: (items: readonly T[]) => boolean,
): Promise<Part<T>> {
  const items: T[] = [];
  let next = cursor;
  let limit = cursor === undefined ? FIRST_PART : NEXT_PART;
  while (next !== null && (next === undefined || !isEnough(items))) {
    const part = await read({ limit, ...(next !== undefined && { cursor: next }) });
    items.push(...part.items);
    next = part.next ?? null;
    limit = NEXT_PART;
  }
  return { items, next: next ?? null };
}

const isBefore = (at: string | undefined, since: number): boolean => at !== undefined && Date.parse(at) <= since;

/** Runs back to the one that was under way at `since`, from the newest or from a cursor. */
export const runsSince = (client: WarrenClient, session: string, since: number, cursor?: string | null): Promise<Part<RunItem>> =>
  readBack(
    async (query) => {
      const { runs, nextCursor } = await client.runs(session, query);
      return { items: runs, next: nextCursor };
    },
    cursor,
    (runs) => isBefore(runs.at(-1)?.createdAt, since),
  );

/** Requests back to `since`, from the newest or from a cursor. */
export const approvalsSince = (client: WarrenClient, sessionId: string, since: number, cursor?: string | null): Promise<Part<ApprovalItem>> =>
  readBack(
    async (query) => {
      const { approvals, nextCursor } = await client.approvals({ sessionId, ...query });
      return { items: approvals, next: nextCursor };
    },
    cursor,
    (approvals) => isBefore(approvals.at(-1)?.requestedAt, since),
  );

export type Beside = { runs: Part<RunItem>; approvals: Part<ApprovalItem>; waiting: ApprovalItem[]; earlierCostUSD: number };

/** What belongs beside the blocks of a session, read after them: runs, with all that wait or work, and requests. */
export async function besideOf(client: WarrenClient, data: RuntimeSessionData): Promise<Beside> {
  const { sessionId, queue, activeRunId } = data;
  const since = data.previousCursor == null ? -Infinity : Date.parse(data.blocks[0]?.timestamp ?? "");
  const needed = [...(queue ?? []), ...(activeRunId ? [activeRunId] : [])];
  let earlierCostUSD = 0;
  const readRuns = readBack<RunItem>(
    async (query) => {
      const { runs, nextCursor, earlier } = await client.runs(sessionId, { ...query, sum: "earlier" });
      earlierCostUSD = earlier?.costUSD ?? 0;
      return { items: runs, next: nextCursor };
    },
    undefined,
    (runs) => isBefore(runs.at(-1)?.createdAt, since) && needed.every((id) => runs.some((run) => run.runId === id)),
  );
  const [runs, approvals, waiting] = await Promise.all([
    readRuns,
    approvalsSince(client, sessionId, since),
    client.approvals({ sessionId, status: "pending", limit: 500 }),
  ]);
  return { runs, approvals, waiting: waiting.approvals, earlierCostUSD };
}
