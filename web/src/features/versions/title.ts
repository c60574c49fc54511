// What a version is called: its label, else what was asked for, else why it was made. Pure.
import type { Content, Run, Version, VersionCause } from "@warren/react";

const WHY: Record<VersionCause, string> = {
  run: "A run",
  interrupt: "Stopped early",
  recovered: "Saved after a failed run",
  idle: "Auto-saved before the sandbox paused",
  edited: "Edited between runs",
  template: "Template",
  manual: "Saved manually",
  restore: "Restored an earlier version",
  import: "Imported",
  fork: "Forked",
};

export function titleOf(version: Version, runs: readonly Run[]): string {
  if (version.label) return version.label;
  if (version.version === 0) return "Start of the session";
  if (version.cause === "restore" && version.restored != null) return `Restored v${version.restored}`;
  const run = runs.find((one) => one.runId === version.runId);
  const asked = run && firstLine(run.content);
  if (version.cause === "interrupt" && asked) return `Stopped: ${asked}`;
  return (version.cause === "run" && asked) || WHY[version.cause] || version.cause;
}

function firstLine(content: Content): string {
  const text = typeof content === "string" ? content : content.map((part) => ("text" in part ? part.text : "")).join(" ");
  const line = text.trim().split("\n")[0] ?? "";
  return line.length > 80 ? `${line.slice(0, 79)}…` : line;
}
