/** What a tool call is for people: every agent names its tools in its own way, and all of them read files. */
import { compare, readUnified, type Diff } from "~/lib/diff";
import { count, plural } from "~/lib/format";
import type { IconName } from "~/ui/IconSprite";

/** What a call does, as far as the page shows it differently. */
export type ToolKind = "run" | "edit" | "write" | "read" | "search" | "list" | "fetch" | "plan" | "ask" | "mcp" | "other";

/** A call in one line. */
export interface ToolLine {
  kind: ToolKind;
  icon: IconName;
  verb: string;
  /** What it acts on. */
  object: string;
}

/** A step of a plan. */
export interface PlanStep {
  text: string;
  state: "done" | "now" | "open";
}

/** As much of a call as this module reads. */
export interface Call {
  toolName: string;
  input: unknown;
  displayName?: string | null;
  description?: string | null;
}

const KINDS: Record<string, ToolKind> = {
  bash: "run", shell: "run", execute: "run", run_shell_command: "run", local_shell: "run", exec_command: "run",
  edit: "edit", multiedit: "edit", replace: "edit", apply_patch: "edit", patch: "edit", notebookedit: "edit",
  write: "write", write_file: "write", create_file: "write",
  read: "read", read_file: "read", read_many_files: "read", view: "read", notebookread: "read",
  grep: "search", search: "search", search_file_content: "search", grep_search: "search", websearch: "search", google_web_search: "search",
  glob: "list", ls: "list", list: "list", list_directory: "list", list_files: "list",
  webfetch: "fetch", web_fetch: "fetch", fetch: "fetch",
  todo: "plan", todowrite: "plan", update_plan: "plan", write_todos: "plan",
  askuserquestion: "ask", question: "ask", ask: "ask",
};
const LOOKS: Record<ToolKind, { icon: IconName; verb: string }> = {
  run: { icon: "term", verb: "Run" },
  edit: { icon: "pencil", verb: "Edit" },
  write: { icon: "file", verb: "Write" },
  read: { icon: "eye", verb: "Read" },
  search: { icon: "search", verb: "Search" },
  list: { icon: "folder", verb: "List" },
  fetch: { icon: "share", verb: "Fetch" },
  plan: { icon: "list", verb: "Plan" },
  ask: { icon: "ask", verb: "Ask" },
  mcp: { icon: "plug", verb: "" },
  other: { icon: "cmd", verb: "" },
};
const WORKSPACE = /^\/workspace\//;

/** The kind of a call. */
export function kindOf(toolName: string): ToolKind {
  return KINDS[toolName.toLowerCase()] ?? (/^mcp__|__/.test(toolName) ? "mcp" : "other");
}

/** A call in one line. */
export function lineOf(call: Call): ToolLine {
  const kind = kindOf(call.toolName);
  const { icon, verb } = LOOKS[kind];
  if (kind === "mcp") {
    const [server, ...tool] = call.toolName.replace(/^mcp__/, "").split("__");
    return { kind, icon, verb: tool.length ? `${server}: ${tool.join("__")}` : call.toolName, object: brief(call.input) };
  }
  return { kind, icon, verb: verb || call.displayName || call.toolName, object: objectOf(kind, call) };
}

function objectOf(kind: ToolKind, call: Call): string {
  const path = pathOf(call.input);
  switch (kind) {
    case "run":
      return oneLine(commandOf(call.input) ?? call.description ?? "");
    case "edit":
    case "write":
    case "read":
      return path ?? call.description ?? "";
    case "search":
      return [text(call.input, "pattern", "query"), path && `in ${path}`].filter(Boolean).join(" ") || (call.description ?? "");
    case "list":
      return text(call.input, "pattern") ?? path ?? call.description ?? "";
    case "fetch":
      return text(call.input, "url", "prompt") ?? "";
    case "plan":
    case "ask":
      return call.description ?? "";
    case "mcp":
    case "other":
      return call.description && call.description !== call.toolName ? call.description : brief(call.input);
  }
}

/** The command of a call that runs one. */
export function commandOf(input: unknown): string | null {
  const command = field(input, "command") ?? field(input, "cmd");
  return Array.isArray(command) ? command.join(" ") : typeof command === "string" ? command : null;
}

/** The file a call is about, relative to the workspace. */
export function pathOf(input: unknown): string | null {
  const named = text(input, "file_path", "path", "filePath", "absolute_path", "dir_path", "notebook_path");
  if (named) return named.replace(WORKSPACE, "");
  const paths = changesOf(input).map((change) => change.path.replace(WORKSPACE, ""));
  return paths.length ? paths.join(", ") : null;
}

/** What a call changes, where its input says so: one diff a file. Lines have numbers only where the log knows them. */
export function diffsOf(call: Call, output?: unknown): { path: string; diff: Diff }[] {
  const kind = kindOf(call.toolName);
  const path = pathOf(call.input) ?? "";
  if (kind === "write") {
    const content = text(call.input, "content");
    return content === null ? [] : [{ path, diff: compare("", content) }];
  }
  if (kind !== "edit") return [];
  const edits = Array.isArray(field(call.input, "edits")) ? (field(call.input, "edits") as unknown[]) : [call.input];
  const out = edits.flatMap((edit) => {
    const before = text(edit, "old_string", "old_text", "oldString", "oldText");
    const after = text(edit, "new_string", "new_text", "newString", "newText");
    if (before === null || after === null) return [];
    const from = placeIn(outputText(output), after);
    return [{ path, diff: from === null ? withoutNumbers(compare(before, after)) : compare(before, after, from) }];
  });
  const patches = changesOf(call.input).map((change) => ({ path: change.path.replace(WORKSPACE, ""), diff: patchOf(change) }));
  return [...out, ...patches];
}

/** The steps of a plan, or nothing if the call makes none. */
export function planOf(call: Call): PlanStep[] | null {
  if (kindOf(call.toolName) !== "plan") return null;
  const items = field(call.input, "todos") ?? field(call.input, "plan") ?? field(call.input, "items");
  if (!Array.isArray(items)) return null;
  return items.map((item) => {
    const state = text(item, "status") ?? "pending";
    return {
      text: text(item, "content", "step", "description", "text") ?? "",
      state: state === "completed" || state === "done" ? "done" : state === "in_progress" ? "now" : "open",
    };
  });
}

/** How a call ended, as a person should see it. */
export type Ending = "open" | "done" | "failed" | "denied" | "stopped";

/** What agents answer for a call that a person, a rule or the sandbox refused. */
const DENIED = /\b(?:denied|rejected|refused|declined|not allowed|doesn['’]t want to|user (?:said no|rejected))\b/i;
/** What agents answer for a call that was cut off. */
const STOPPED = /\b(?:interrupted|aborted|cancell?ed|request was aborted|killed by the user)\b/i;

/** How a call ended. `refused`: a person denied it, whatever the agent made of that. */
export function endingOf(status: string, result: { output: unknown; isError: boolean } | null, refused: boolean): Ending {
  const isError = result?.isError === true || status === "error";
  if (!isError) return result || status === "success" ? "done" : "open";
  if (refused) return "denied";
  if (!result) return "stopped";
  const words = outputText(result.output).slice(0, 400);
  // Only short answers: a program that prints “denied” has failed.
  if (words.length < 400 && !/exit(?:ed)?(?: with)?(?: code| status)/i.test(words)) {
    if (STOPPED.test(words)) return "stopped";
    if (/^(?:the )?(?:user|person|operator|request|permission|tool use)\b/i.test(words.trim()) && DENIED.test(words)) return "denied";
  }
  return "failed";
}

/** What came of a call, in two or three words beside its line. */
export function outcomeOf(kind: ToolKind, output: unknown, isError: boolean): string {
  const said = outputText(output);
  if (isError) {
    const exit = /(?:exit(?:ed)?(?: with)?(?: code| status)?:? ?|Exit code )(\d+)/i.exec(said);
    return exit && exit[1] !== "0" ? `exit ${exit[1]}` : "failed";
  }
  if (kind === "search") {
    const hits = said.split("\n").filter((line) => line.trim()).length;
    return said && !/^no (?:matches|files)/i.test(said) ? plural(hits, "hit") : "no hits";
  }
  if (kind === "list") return plural(said.split("\n").filter((line) => line.trim()).length, "entry", "entries");
  const tests = /(\d+) passed/.exec(said);
  const failed = /(\d+) failed/.exec(said);
  if (kind === "run" && failed && failed[1] !== "0") return `${failed[1]} failed`;
  return kind === "run" && tests ? `${count(Number(tests[1]))} passed` : "";
}

/** What a tool answered, as text. Parts that are not text are named. */
export function outputText(output: unknown): string {
  if (typeof output === "string") return output;
  if (output === null || output === undefined) return "";
  if (Array.isArray(output)) {
    return output.map((part) => text(part, "text") ?? (typeof part === "string" ? part : `[${text(part, "type") ?? "part"}]`)).join("\n");
  }
  return text(output, "text", "output", "stdout", "content") ?? JSON.stringify(output, null, 2);
}

/** A value in one short line. */
export function brief(value: unknown): string {
  if (value === undefined || value === null) return "";
  const json = typeof value === "string" ? value : JSON.stringify(value, null, 1).replace(/\s*\n\s*/g, " ");
  return json === "{}" ? "" : oneLine(json);
}

function oneLine(said: string): string {
  const line = said.trim().replace(/\s*\n[\s\S]*/, " …");
  return line.length > 400 ? `${line.slice(0, 400)}…` : line;
}

function changesOf(input: unknown): { path: string; kind: string; diff: string }[] {
  const changes = field(input, "changes");
  if (!Array.isArray(changes)) return [];
  return changes.map((change) => ({ path: text(change, "path") ?? "", kind: text(change, "kind") ?? "", diff: text(change, "diff") ?? "" }));
}

function patchOf(change: { kind: string; diff: string }): Diff {
  if (change.kind === "add") return compare("", change.diff);
  if (change.kind === "delete") return compare(change.diff, "");
  if (/^@@ -\d/m.test(change.diff)) return readUnified(change.diff);
  const lines = change.diff.split("\n");
  const side = (sign: string) => lines.filter((line) => line[0] === sign || line[0] === " ").map((line) => line.slice(1)).join("\n");
  return withoutNumbers(compare(side("-"), side("+")));
}

/** Where a text stands in a file, by an answer that shows it with line numbers, as `12→text` or `12: text`. */
function placeIn(output: string, text: string): number | null {
  const wanted = text.replace(/\n$/, "").split("\n");
  const numbered = output.split("\n").flatMap((line) => {
    const found = /^\s*(\d+)(?:→|\t|: ?|\| ?)(.*)$/.exec(line);
    return found ? [{ number: Number(found[1]), text: found[2]! }] : [];
  });
  const at = numbered.findIndex((_, from) => wanted.every((line, n) => numbered[from + n]?.text === line));
  return at < 0 ? null : numbered[at]!.number;
}

/** A change of which only the text is known: numbers would be those of the snippet and not of the file. */
export function withoutNumbers(diff: Diff): Diff {
  const hunks = diff.hunks.map((hunk) => ({ label: "", lines: hunk.lines.map((line) => ({ ...line, before: null, after: null })) }));
  return { ...diff, hunks };
}

function field(value: unknown, key: string): unknown {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>)[key] : undefined;
}

function text(value: unknown, ...keys: string[]): string | null {
  for (const key of keys) {
    const found = field(value, key);
    if (typeof found === "string") return found;
  }
  return null;
}
