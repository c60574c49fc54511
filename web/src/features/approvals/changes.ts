/** Which files a request would change, and how: read from its detail, which each agent fills in its own way. Pure. */
import { exactly } from "~/lib/ansi";
import { compare, readUnified, type Diff } from "~/lib/diff";
import { withoutNumbers } from "../chat/tools";

/** One file that would be changed. */
export interface FileChange {
  path: string;
  /** What happens to it. */
  act: "write" | "edit" | "delete" | "move";
  /** Where it goes, if it is moved. */
  to: string | null;
  diff: Diff;
}

export interface Asked {
  files: FileChange[];
  /** Fields of the input that the files do not show. */
  rest: [name: string, value: string][];
}

const PATHS = ["file_path", "filePath", "path", "absolute_path", "notebook_path", "filepath", "target_file"];
const BEFORE = ["old_string", "oldString", "old_text", "oldText", "old_str"];
const AFTER = ["new_string", "newString", "new_text", "newText", "new_str"];
const WHOLE = ["content", "contents", "file_text", "new_source"];
const PATCHES = ["patchText", "patch", "input"];

/** The changes of files that a request is about; none if it is about something else, or says too little. */
export function changesAsked(detail: unknown): Asked {
  const input = field(detail, "input") ?? detail;
  const readers = [ofContent, ofList, ofFileChanges, ofPatch, ofEdits, ofWhole, ofMetadata];
  for (const read of readers) {
    const found = read(input, detail);
    if (found && found.files.length > 0) return { files: found.files, rest: restOf(input, found.shown) };
  }
  return { files: [], rest: [] };
}

type Found = { files: FileChange[]; /** Fields of the input that need not be shown again. */ shown: string[] } | null;

/** ACP: the call's content has parts of type `diff`. */
function ofContent(_input: unknown, detail: unknown): Found {
  const content = field(detail, "content");
  if (!Array.isArray(content)) return null;
  const files = content.flatMap((part): FileChange[] => {
    const path = text(part, ["path"]);
    const after = text(part, ["newText"]);
    if (text(part, ["type"]) !== "diff" || path === null || after === null) return [];
    const before = text(part, ["oldText"]);
    return [before === null ? written(path, after) : edited(path, before, after)];
  });
  return { files, shown: [...PATHS, ...BEFORE, ...AFTER, ...WHOLE] };
}

/** Codex: a list of changes with a path, a kind and the lines. */
function ofList(input: unknown): Found {
  const changes = field(input, "changes");
  if (!Array.isArray(changes)) return null;
  const files = changes.flatMap((change): FileChange[] => {
    const path = text(change, ["path"]);
    return path === null ? [] : [changed(path, text(change, ["kind"]) ?? "update", text(change, ["diff"]) ?? "", text(change, ["movedTo"]))];
  });
  return { files, shown: ["changes"] };
}

/** Codex, its older protocol: an object with a change by each path. */
function ofFileChanges(input: unknown): Found {
  if (typeof input !== "object" || input === null || Array.isArray(input)) return null;
  const entries = Object.entries(input as Record<string, unknown>);
  const files = entries.flatMap(([path, change]): FileChange[] => {
    const kind = text(change, ["type"]) ?? ["add", "delete", "update"].find((name) => typeof field(change, name) === "object");
    if (!path.includes("/") && !path.includes(".")) return [];
    if (kind === undefined || kind === null || !["add", "delete", "update"].includes(kind)) return [];
    const of = typeof field(change, kind) === "object" ? field(change, kind) : change;
    return [changed(path, kind, text(of, ["content", "unified_diff", "unifiedDiff", "diff"]) ?? "", text(of, ["move_path", "movePath"]))];
  });
  return files.length === entries.length ? { files, shown: entries.map(([path]) => path) } : null;
}

/** A patch in the form of `apply_patch`: the text names its files. */
function ofPatch(input: unknown): Found {
  const name = PATCHES.find((one) => /^\*\*\* Begin Patch/m.test(text(input, [one]) ?? ""));
  const patch = typeof input === "string" && /^\*\*\* Begin Patch/m.test(input) ? input : name && text(input, [name]);
  return patch ? { files: filesOfPatch(patch), shown: name ? [name] : [] } : null;
}

/** One text in place of another, once or several times in one file. */
function ofEdits(input: unknown): Found {
  const path = text(input, PATHS);
  if (path === null) return null;
  const list = field(input, "edits");
  const isList = Array.isArray(list);
  const files = (isList ? list : [input]).flatMap((edit): FileChange[] => {
    const after = text(edit, AFTER);
    const before = text(edit, BEFORE);
    if (before === null || after === null) return [];
    // What is said once more of an edit is in the raw input.
    return [before === "" ? written(path, after) : edited(path, before, after)];
  });
  return { files, shown: [...PATHS, ...(isList ? ["edits"] : [...BEFORE, ...AFTER])] };
}

/** A file with all its text. */
function ofWhole(input: unknown): Found {
  const path = text(input, PATHS);
  const name = WHOLE.find((one) => text(input, [one]) !== null);
  if (path === null || name === undefined) return null;
  return { files: [written(path, text(input, [name]) ?? "")], shown: [...PATHS, name] };
}

/** OpenCode: the request's metadata has the difference, where the call is not known. */
function ofMetadata(input: unknown, detail: unknown): Found {
  const metadata = field(detail, "metadata") ?? input;
  const [path, diff] = [text(metadata, PATHS), text(metadata, ["diff"])];
  if (path === null || diff === null || !/^@@ -\d/m.test(diff)) return null;
  return { files: [{ path, act: "edit", to: null, diff: readUnified(exactly(diff)) }], shown: [...PATHS, "diff"] };
}

const written = (path: string, content: string): FileChange => ({ path, act: "write", to: null, diff: compare("", exactly(content)) });

const edited = (path: string, before: string, after: string): FileChange =>
  ({ path, act: "edit", to: null, diff: withoutNumbers(compare(exactly(before), exactly(after))) });

/** A change of which the kind is told, and lines: all of them for a new or a deleted file, else a difference. */
function changed(path: string, kind: string, lines: string, to: string | null): FileChange {
  if (kind === "add") return written(path, lines);
  if (kind === "delete") return { path, act: "delete", to: null, diff: compare(exactly(lines), "") };
  const act = to === null ? "edit" : "move";
  if (/^@@ -\d/m.test(lines)) return { path, act, to, diff: readUnified(exactly(lines)) };
  const all = exactly(lines).split("\n");
  const side = (sign: string) => all.filter((line) => line[0] === sign || line[0] === " ").map((line) => line.slice(1)).join("\n");
  return { path, act, to, diff: withoutNumbers(compare(side("-"), side("+"))) };
}

function filesOfPatch(patch: string): FileChange[] {
  const parts: { path: string; kind: string; to: string | null; lines: string[] }[] = [];
  for (const line of patch.split("\n")) {
    const head = /^\*\*\* (Add|Update|Delete) File: (.+)$/.exec(line);
    const moved = /^\*\*\* Move to: (.+)$/.exec(line);
    const last = parts.at(-1);
    if (head) parts.push({ kind: head[1]!.toLowerCase(), path: head[2]!.trim(), to: null, lines: [] });
    else if (moved && last) last.to = moved[1]!.trim();
    else if (last && !line.startsWith("***")) last.lines.push(last.kind === "add" ? line.replace(/^\+/, "") : line);
  }
  return parts.map(({ path, kind, to, lines }) => changed(path, kind, lines.join("\n"), to));
}

/** What else the input says, so that nothing is agreed to unseen. */
function restOf(input: unknown, shown: readonly string[]): Asked["rest"] {
  if (typeof input !== "object" || input === null || Array.isArray(input)) return [];
  const more = Object.entries(input as Record<string, unknown>).filter(([name, value]) => !shown.includes(name) && value !== null && value !== undefined);
  return more.map(([name, value]) => [exactly(name), exactly(typeof value === "string" ? value : JSON.stringify(value))]);
}

const field = (value: unknown, key: string): unknown =>
  typeof value === "object" && value !== null ? (value as Record<string, unknown>)[key] : undefined;

function text(value: unknown, keys: readonly string[]): string | null {
  for (const key of keys) {
    const found = field(value, key);
    if (typeof found === "string") return found;
  }
  return null;
}
