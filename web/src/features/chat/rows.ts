/** A conversation as the rows a person sees: calls joined with their answers, bursts of reading folded, plans kept once,
 *  and what is no block (approvals, versions, ends of runs) put where it happened. Pure. */
import type { Block } from "@warren/react";
import { kindOf, planOf, type PlanStep } from "./tools";

type Of<T extends Block["type"]> = Extract<Block, { type: T }>;

/** A call and its answer, once there is one. */
export interface Tool {
  use: Of<"tool_use">;
  result: Of<"tool_result"> | null;
}

/** What happened beside the blocks; `at` is when, in milliseconds. */
export type Mark<T = unknown> =
  | { mark: "approval"; key: string; at: number; toolUseId: string | null; value: T }
  | { mark: "saved" | "made" | "ended" | "forgotten" | "boot" | "retry" | "pending"; key: string; at: number; value: T };

/** One row. Rows of the same content are the same object, so that a row is drawn again only when it changed. */
export type Row<T = unknown> =
  | { kind: "user"; key: string; block: Of<"user_message"> }
  | { kind: "text"; key: string; block: Of<"assistant_text"> }
  | { kind: "thinking"; key: string; block: Of<"thinking">; until: number | null }
  | { kind: "tool"; key: string; tool: Tool }
  | { kind: "reads"; key: string; tools: Tool[] }
  | { kind: "plan"; key: string; steps: PlanStep[]; at: number; latest: boolean }
  | { kind: "subagent"; key: string; block: Of<"subagent"> }
  | { kind: "system"; key: string; block: Of<"system"> }
  | { kind: "error"; key: string; block: Of<"error"> }
  | { kind: "mark"; key: string; mark: Mark<T> };

/** When a block began, in milliseconds. */
export const timeOf = (block: Block): number => Date.parse(block.timestamp);

/** Builds rows and remembers them, so that a text that grows costs one row and not all of them. */
export class RowBuilder<T = unknown> {
  private blocks: readonly Block[] = [];
  private marks: readonly Mark<T>[] = [];
  private rows: Row<T>[] = [];
  private known = new Map<string, Row<T>>();

  /** The rows of a conversation as it is now. */
  build(blocks: readonly Block[], marks: readonly Mark<T>[]): readonly Row<T>[] {
    if (blocks === this.blocks && marks === this.marks) return this.rows;
    const grown = marks === this.marks ? this.onlyLastGrew(blocks) : false;
    this.blocks = blocks;
    this.marks = marks;
    if (!grown) this.rows = this.all(blocks, marks);
    return this.rows;
  }

  /** The common case: the last block is a text that got longer. */
  private onlyLastGrew(blocks: readonly Block[]): boolean {
    const n = blocks.length;
    const last = blocks[n - 1];
    if (n === 0 || n !== this.blocks.length || !last) return false;
    if (last.type !== "assistant_text" && last.type !== "thinking") return false;
    if (n > 1 && blocks[n - 2] !== this.blocks[n - 2]) return false;
    for (let at = n - 2; at >= 0; at--) if (blocks[at] !== this.blocks[at]) return false;
    const at = this.rows.findLastIndex((row) => row.key === last.id);
    const row = this.rows[at];
    if (!row || (row.kind !== "text" && row.kind !== "thinking")) return false;
    this.rows = this.rows.slice();
    this.rows[at] = { ...row, block: last } as Row<T>;
    this.known.set(row.key, this.rows[at]!);
    return true;
  }

  private all(blocks: readonly Block[], marks: readonly Mark<T>[]): Row<T>[] {
    const rows = withMarks(plain<T>(blocks), marks);
    const known = new Map<string, Row<T>>();
    for (let at = 0; at < rows.length; at++) {
      const row = rows[at]!;
      const before = this.known.get(row.key);
      if (before && same(before, row)) rows[at] = before;
      known.set(row.key, rows[at]!);
    }
    this.known = known;
    return rows;
  }
}

/** The server's own notice of a restore. */
const RESTORED = /^restored-\d+$/;

/** The rows of the blocks alone. */
function plain<T>(blocks: readonly Block[]): Row<T>[] {
  const results = new Map<string, Of<"tool_result">>();
  for (const block of blocks) if (block.type === "tool_result") results.set(block.toolUseId, block);
  const rows: Row<T>[] = [];
  let plan = -1;
  blocks.forEach((block, at) => {
    const key = block.id;
    switch (block.type) {
      case "user_message":
        rows.push({ kind: "user", key, block });
        break;
      case "assistant_text":
        if (block.content) rows.push({ kind: "text", key, block });
        break;
      case "thinking": {
        const next = blocks[at + 1];
        rows.push({ kind: "thinking", key, block, until: next ? timeOf(next) : null });
        break;
      }
      case "tool_use": {
        const steps = planOf(block);
        if (steps) {
          const before = rows[plan];
          if (before?.kind === "plan") rows[plan] = { ...before, latest: false };
          plan = rows.length;
          rows.push({ kind: "plan", key, steps, at: timeOf(block), latest: true });
        } else push(rows, { use: block, result: results.get(block.toolUseId) ?? null });
        break;
      }
      case "subagent":
        rows.push({ kind: "subagent", key, block });
        break;
      case "system":
        // The line of the restored version says it, and what it means for the agent's memory.
        if (!RESTORED.test(block.id)) rows.push({ kind: "system", key, block });
        break;
      case "error":
        rows.push({ kind: "error", key, block });
        break;
      case "tool_result":
        break;
      default:
        block satisfies never;
    }
  });
  return rows;
}

/** Puts a call at the end; a read that ended well joins the reads before it. */
function push<T>(rows: Row<T>[], tool: Tool) {
  const quiet = kindOf(tool.use.toolName) === "read" && tool.use.status === "success" && !tool.result?.isError;
  const last = rows.at(-1);
  const lastQuiet = last?.kind === "tool" && kindOf(last.tool.use.toolName) === "read" && last.tool.use.status === "success" && !last.tool.result?.isError;
  if (quiet && last?.kind === "reads") rows[rows.length - 1] = { ...last, tools: [...last.tools, tool] };
  else if (quiet && lastQuiet) rows[rows.length - 1] = { kind: "reads", key: last.key, tools: [last.tool, tool] };
  else rows.push({ kind: "tool", key: tool.use.id, tool });
}

/** Puts marks between rows: an approval behind its call, ends and versions of a run before the next message. */
function withMarks<T>(rows: Row<T>[], marks: readonly Mark<T>[]): Row<T>[] {
  if (!marks.length) return rows;
  const byTool = new Map<string, Mark<T>[]>();
  const byTime: Mark<T>[] = [];
  const calls = new Set(rows.flatMap((row) => (row.kind === "tool" ? [row.tool.use.toolUseId] : [])));
  for (const mark of marks) {
    if (mark.mark === "approval" && mark.toolUseId && calls.has(mark.toolUseId)) {
      byTool.set(mark.toolUseId, [...(byTool.get(mark.toolUseId) ?? []), mark]);
    } else byTime.push(mark);
  }
  const out: Row<T>[] = [];
  let next = 0;
  const flush = (until: number, all: boolean) => {
    while (next < byTime.length && byTime[next]!.at <= until && (all || !isOfRun(byTime[next]!))) out.push(rowOf(byTime[next++]!));
  };
  for (const row of rows) {
    const at = startOf(row);
    // A notice between runs, as that of a restore, is behind the run before it.
    if (at !== null) flush(at, row.kind === "user" || row.kind === "system");
    out.push(row);
    if (row.kind === "tool") for (const mark of byTool.get(row.tool.use.toolUseId) ?? []) out.push(rowOf(mark));
  }
  flush(Infinity, true);
  return out;
}

const isOfRun = (mark: Mark): boolean => mark.mark === "saved" || mark.mark === "made" || mark.mark === "ended" || mark.mark === "forgotten" || mark.mark === "pending";
const rowOf = <T>(mark: Mark<T>): Row<T> => ({ kind: "mark", key: mark.key, mark });

/** When a row began, in milliseconds; nothing for a mark. */
export function startOf(row: Row): number | null {
  switch (row.kind) {
    case "mark":
      return null;
    case "tool":
      return timeOf(row.tool.use);
    case "reads":
      return timeOf(row.tools[0]!.use);
    case "plan":
      return row.at;
    default:
      return timeOf(row.block);
  }
}

/** Whether two rows of the same name show the same. */
function same(a: Row, b: Row): boolean {
  if (a.kind === "reads" && b.kind === "reads") {
    return a.tools.length === b.tools.length && a.tools.every((tool, at) => tool.use === b.tools[at]!.use && tool.result === b.tools[at]!.result);
  }
  if (a.kind === "tool" && b.kind === "tool") return a.tool.use === b.tool.use && a.tool.result === b.tool.result;
  if (a.kind === "plan" && b.kind === "plan") {
    return a.latest === b.latest && a.steps.length === b.steps.length && a.steps.every((step, at) => step.text === b.steps[at]!.text && step.state === b.steps[at]!.state);
  }
  if (a.kind === "mark" && b.kind === "mark") return a.mark === b.mark || a.mark.value === b.mark.value;
  if (a.kind === "thinking" && b.kind === "thinking") return a.block === b.block && a.until === b.until;
  return a.kind === b.kind && "block" in a && "block" in b && a.block === b.block;
}
