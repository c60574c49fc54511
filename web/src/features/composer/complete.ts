/** What may be completed where a person types: a file after `@`, a command after `/` at the start. Pure. */

export type Token = { kind: "file" | "command"; query: string; from: number; to: number };

export type Suggestion = { id: string; label: string; note?: string; isFolder?: boolean };

/** The token before the caret, or nothing. */
export function tokenAt(text: string, caret: number): Token | null {
  const before = text.slice(0, caret);
  const command = /^\/([\w.-]*)$/.exec(before);
  if (command) return { kind: "command", query: command[1]!, from: 0, to: caret };
  const file = /(?:^|\s)@([^\s@]*)$/.exec(before);
  return file ? { kind: "file", query: file[1]!, from: caret - file[1]!.length - 1, to: caret } : null;
}

/** The folder that a query is in, and the beginning of a name there. */
export function splitPath(query: string): { folder: string; name: string } {
  const at = query.lastIndexOf("/");
  return { folder: query.slice(0, Math.max(0, at)), name: query.slice(at + 1) };
}

/** The text with a token replaced, and where the caret is then. A folder stays open to go on. */
export function replaced(text: string, token: Token, by: string, goesOn: boolean): { text: string; caret: number } {
  const sign = token.kind === "file" ? "@" : "/";
  const rest = text.slice(token.to);
  const gap = goesOn || /^\s/.test(rest) ? "" : " ";
  const before = `${text.slice(0, token.from)}${sign}${by}${gap}`;
  return { text: before + rest, caret: before.length };
}

/** Those whose label begins with the query first, then those that contain it. */
export function ranked(all: readonly Suggestion[], query: string, most = 8): Suggestion[] {
  const wanted = query.toLowerCase();
  const starts = all.filter((one) => one.label.toLowerCase().startsWith(wanted));
  const has = all.filter((one) => !starts.includes(one) && one.label.toLowerCase().includes(wanted));
  return [...starts, ...has].slice(0, most);
}
