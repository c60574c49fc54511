/** The keys of the page. Pure: what a stroke means, given where it falls. */

export type KeyAction =
  | "palette" | "find" | "new" | "previous" | "next" | "blockNext" | "blockPrevious" | "toggle" | "end" | "request" | "allow" | "deny"
  | "findHere" | "panel" | "fork" | "compare" | "full" | "help" | "choose" | "tab";

export interface Stroke {
  key: string;
  /** The key on the keyboard, whatever a modifier makes of it. */
  code?: string;
  ctrl: boolean;
  shift: boolean;
  alt: boolean;
  /** In a field, where letters are letters. */
  typing: boolean;
  /** A dialog is open, which has keys of its own. */
  modal: boolean;
  /** The stroke before it, if it began a pair. */
  before: string | null;
}

export const KEYS: readonly { keys: string[]; does: string }[] = [
  { keys: ["Ctrl", "K"], does: "Command palette" },
  { keys: ["/"], does: "Search sessions" },
  { keys: ["Ctrl", "F"], does: "Find in the conversation" },
  { keys: ["N"], does: "New session" },
  { keys: ["["], does: "Previous session" },
  { keys: ["]"], does: "Next session" },
  { keys: ["J"], does: "Next block" },
  { keys: ["K"], does: "Previous block" },
  { keys: ["O"], does: "Open or close the block" },
  { keys: ["End"], does: "Follow live" },
  { keys: ["Alt", "A"], does: "Go to the agent’s request, outside text fields" },
  { keys: ["A"], does: "Allow once, on a focused request" },
  { keys: ["D"], does: "Deny, on a focused request" },
  { keys: ["1–9"], does: "Choose an answer, on a focused question" },
  { keys: ["Enter"], does: "Send, or queue" },
  { keys: ["Ctrl", "Enter"], does: "Steer the active run" },
  { keys: ["Shift", "Enter"], does: "New line" },
  { keys: ["↑"], does: "Earlier prompts, in an empty message" },
  { keys: ["@"], does: "Name a file, in a message" },
  { keys: ["/"], does: "Commands, at the start of a message" },
  { keys: ["Esc", "Esc"], does: "Stop the run" },
  { keys: ["Ctrl", "."], does: "Show or hide the panel" },
  { keys: ["G", "then A F V L"], does: "Artifacts, files, versions, activity" },
  { keys: ["Shift", "F"], does: "Fork" },
  { keys: ["Shift", "D"], does: "Compare versions" },
  { keys: ["F"], does: "Artifact in full" },
  { keys: ["F2"], does: "Rename, on a file" },
  { keys: ["Del"], does: "Delete, on a file" },
  { keys: ["Shift", "F10"], does: "Actions, on a file" },
  { keys: ["J"], does: "Next file, in a comparison" },
  { keys: ["K"], does: "Previous file, in a comparison" },
  { keys: ["?"], does: "All keys" },
];

const LETTERS: Record<string, KeyAction> = {
  "/": "find", n: "new", "[": "previous", "]": "next", j: "blockNext", k: "blockPrevious", o: "toggle", a: "allow", d: "deny", f: "full", "?": "help",
};

export const TABS = { a: "artifacts", f: "files", v: "versions", l: "activity" } as const;

/** What a stroke asks for, or nothing. `letters` is whether single letters act at all. */
export function actionOf(stroke: Stroke, letters: boolean): KeyAction | null {
  const key = stroke.key.toLowerCase();
  if (stroke.ctrl && key === "k") return "palette";
  if (stroke.modal) return null;
  if (stroke.ctrl && key === ".") return "panel";
  if (stroke.ctrl && !stroke.shift && !stroke.alt && key === "f") return "findHere";
  if (stroke.alt && !stroke.ctrl && !stroke.typing && stroke.code === "KeyA") return "request";
  if (stroke.ctrl || stroke.alt || stroke.typing) return null;
  if (key === "end") return "end";
  if (!letters) return null;
  if (stroke.before === "g" && key in TABS) return "tab";
  if (stroke.shift && key === "f") return "fork";
  if (stroke.shift && key === "d") return "compare";
  if (/^[1-9]$/.test(key)) return "choose";
  return LETTERS[key] ?? null;
}
