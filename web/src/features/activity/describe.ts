// One line of the log in words. Pure.
import type { Event, LogLine } from "@warren/react";
import { bytes, cost, count, plural } from "~/lib/format";

export type Row = { key: string; number: string; time: string; type: string; text: string; line: LogLine };

/** Rows for people: deltas of one block that follow each other are one row. */
export function gathered(lines: readonly LogLine[]): Row[] {
  const rows: Row[] = [];
  let deltas = 0;
  for (const line of lines) {
    const last = rows.at(-1);
    const isMore = line.type === "text_delta" && last?.line.type === "text_delta" && last.line.blockId === line.blockId;
    if (isMore && last) {
      deltas += 1;
      rows[rows.length - 1] = { ...rowOf(line), key: last.key, text: `${threadOf(line)} · ${plural(deltas, "delta")}` };
      continue;
    }
    deltas = 1;
    rows.push(rowOf(line));
  }
  return rows;
}

function rowOf(line: LogLine): Row {
  if (line.type === "log_compacted") {
    const text = `Events ${count(line.from)} to ${count(line.to)} were compacted. Blocks are complete, deltas are removed.`;
    return { key: `c${line.from}`, number: String(line.to), time: "", type: line.type, text, line };
  }
  const time = new Date(line.timestamp);
  const clock = Number.isNaN(time.getTime()) ? "" : time.toLocaleTimeString("en-GB");
  return { key: String(line.seq), number: String(line.seq), time: clock, type: line.type, text: describe(line), line };
}

const LABELS: Record<LogLine["type"], string> = {
  session_created: "Session created",
  session_updated: "Session changed",
  session_status: "Sandbox",
  session_ended: "Session ended",
  run_queued: "Message queued",
  run_started: "Run started",
  run_completed: "Run completed",
  run_failed: "Run failed",
  run_interrupted: "Run stopped",
  block_start: "Block started",
  block_complete: "Block completed",
  block_update: "Block updated",
  block_discarded: "Block discarded",
  text_delta: "Text",
  metadata_update: "Usage",
  model_call_started: "Model call started",
  model_called: "Model call",
  retrying: "Retry",
  approval_requested: "Approval requested",
  approval_resolved: "Approval answered",
  approval_rule_withdrawn: "Rule withdrawn",
  subagent_started: "Subagent started",
  subagent_completed: "Subagent completed",
  artifact_created: "Artifact created",
  artifact_updated: "Artifact changed",
  artifact_deleted: "Artifact deleted",
  file_changed: "File changed",
  port_opened: "Port opened",
  port_closed: "Port closed",
  egress_decided: "Network request",
  limit_reached: "Limit reached",
  context_compacted: "Context compacted",
  version_committed: "Version saved",
  unrecognized: "Unrecognized output",
  log_compacted: "Log compacted",
};

/** What people call a kind of event; one of a newer server in its own words. */
export const labelOf = (type: string): string => (Object.hasOwn(LABELS, type) ? LABELS[type as LogLine["type"]] : type.replaceAll("_", " "));

const threadOf = (event: Event): string => event.conversationId ?? "main";

/** Amber for what needs somebody, red for what failed. */
export function toneOf(line: LogLine): "" | "w" | "b" {
  if (line.type === "approval_requested" || line.type === "retrying") return "w";
  if (line.type === "run_failed" || line.type === "unrecognized") return "b";
  return "";
}

export function describe(event: Event): string {
  switch (event.type) {
    case "session_created":
      return `${event.agentType} · profile ${event.profile}`;
    case "session_updated":
      return Object.keys(event.changes).join(", ");
    case "session_status":
      return event.runtime.sandbox ? `sandbox ${event.runtime.sandbox.status}` : "no sandbox";
    case "session_ended":
      return event.reason;
    case "run_queued":
      return `place ${event.position} · ${words(event.content)}`;
    case "run_started":
      return `from v${event.baseVersion} · ${words(event.input)}`;
    case "block_start":
    case "block_complete":
      return `${threadOf(event)} · ${event.block.type}${event.block.type === "tool_use" ? ` · ${event.block.toolName}` : ""}`;
    case "text_delta":
      return `${threadOf(event)} · 1 delta`;
    case "block_update":
      return `${threadOf(event)} · ${Object.keys(event.updates).join(", ")}`;
    case "block_discarded":
      return event.reason;
    case "metadata_update":
      return `${count(event.usage.totalTokens ?? 0)} tokens · ${cost(event.costUSD)}`;
    case "model_call_started":
      return `${event.model} · at most ${count(event.maxTokens)} tokens`;
    case "model_called":
      return modelCall(event);
    case "retrying":
      return `attempt ${event.attempt} · ${event.reason}`;
    case "approval_requested":
      return `${threadOf(event)} · ${event.title}`;
    case "approval_resolved":
      return `${event.decision} · ${event.by}`;
    case "egress_decided":
      return `${event.host}:${event.port} · ${event.allowed ? "allowed" : "refused"} by ${event.rule}`;
    case "limit_reached":
      return `${event.limit} · ${event.scope} · ${event.used} of ${event.allowed}`;
    case "subagent_started":
      return event.name ?? event.subagentId;
    case "subagent_completed":
      return `${event.subagentId} · ${event.status}`;
    case "file_changed":
      return `${event.path} · ${event.change}${event.sizeBytes != null ? ` · ${bytes(event.sizeBytes)}` : ""}`;
    case "artifact_created":
    case "artifact_updated":
    case "artifact_deleted":
      return `${event.artifact.kind} · ${event.artifact.path}`;
    case "port_opened":
    case "port_closed":
      return String(event.port);
    case "version_committed":
      return `v${event.version} · ${event.cause} · ${plural(event.blocks, "block")}`;
    case "context_compacted":
      return event.summary ?? "";
    case "run_completed":
      return `${event.version != null ? `v${event.version} · ` : ""}${cost(event.costUSD)}`;
    case "run_failed":
      return `${event.code} · ${event.message}`;
    case "run_interrupted":
      return `by ${event.by}`;
    case "unrecognized":
      return `${event.agent} · ${event.raw}`;
    default:
      // A kind that a newer server knows.
      return "";
  }
}

const words = (content: unknown): string => (typeof content === "string" ? content : "message with parts");

/** A status of 0: the server stopped during the call, so that nobody knows how it ended. */
function modelCall({ model, status, ms, costUSD, usage }: Extract<Event, { type: "model_called" }>): string {
  const isEstimate = (usage.estimatedTokens ?? 0) > 0;
  const ended = status === 0 ? "end unknown" : `${status} · ${(ms / 1000).toFixed(1)} s`;
  return `${model} · ${ended} · ${cost(costUSD)}${isEstimate ? " (estimate)" : ""}`;
}
