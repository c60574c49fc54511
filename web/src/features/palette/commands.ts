/** What the palette finds, and how well it matches. Pure. */
import type { IconName } from "~/ui/IconSprite";

export interface Command {
  id: string;
  group: string;
  label: string;
  note?: string;
  icon?: IconName;
  agent?: string;
  keys?: readonly string[];
  run: () => void;
}

/** Commands that match, best first inside their group; groups in the order given. A leading `>` asks for commands only. */
export function matching(commands: readonly Command[], query: string): Command[] {
  const only = query.startsWith(">");
  const words = query.replace(/^>/, "").trim().toLowerCase();
  const pool = only ? commands.filter((command) => command.group !== "Sessions" && command.group !== "Files") : commands;
  if (!words) return pool.filter((command, at) => command.group !== "Sessions" || pool.filter((other, i) => i < at && other.group === "Sessions").length < 8);
  const scored = pool.flatMap((command, at) => {
    const found = score(command.label.toLowerCase(), words) ?? score(command.note?.toLowerCase() ?? "", words);
    return found === null ? [] : [{ command, found, at }];
  });
  const groups = [...new Set(pool.map((command) => command.group))];
  return scored
    .sort((a, b) => groups.indexOf(a.command.group) - groups.indexOf(b.command.group) || b.found - a.found || a.at - b.at)
    .map(({ command }) => command)
    .slice(0, 40);
}

/** A whole part counts most, at the beginning of a word more; letters in order count little. */
function score(text: string, words: string): number | null {
  const at = text.indexOf(words);
  if (at >= 0) return 100 - Math.min(50, at) + (at === 0 || /\W/.test(text[at - 1] ?? "") ? 50 : 0);
  let from = 0;
  for (const letter of words) {
    from = text.indexOf(letter, from) + 1;
    if (from === 0) return null;
  }
  return 1;
}

/** The label with the matching part apart, to be marked. */
export function marked(label: string, query: string): [before: string, match: string, after: string] {
  const words = query.replace(/^>/, "").trim();
  const at = words ? label.toLowerCase().indexOf(words.toLowerCase()) : -1;
  return at < 0 ? [label, "", ""] : [label.slice(0, at), label.slice(at, at + words.length), label.slice(at + words.length)];
}
