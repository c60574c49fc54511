import { useResource, type WarrenClient } from "@warren/react";
import { useState, type KeyboardEvent, type RefObject } from "react";
import { ranked, replaced, splitPath, tokenAt, type Suggestion, type Token } from "./complete";

/** A command of the page or of the session's profile. */
export type SlashCommand = { name: string; note: string; run: (() => void) | null };

type Given = {
  client: WarrenClient;
  sessionId: string;
  text: string;
  field: RefObject<HTMLTextAreaElement | null>;
  commands: readonly SlashCommand[];
  onText: (text: string) => void;
};

/** What can be completed at the caret, and the keys that choose. */
export function useSuggestions({ client, sessionId, text, field, commands, onText }: Given) {
  const [caret, setCaret] = useState(0);
  const [at, setAt] = useState(0);
  const [dismissed, setDismissed] = useState<string | null>(null);
  const token = tokenAt(text, Math.min(caret, text.length));
  const files = useFiles(client, sessionId, token);
  const all = token?.kind === "file" ? files : commands.map(({ name, note }): Suggestion => ({ id: name, label: name, note }));
  const open = token !== null && dismissed !== text;
  const shown = open ? ranked(all, token.kind === "file" ? splitPath(token.query).name : token.query) : [];
  const active = Math.min(at, Math.max(0, shown.length - 1));
  const choose = (one: Suggestion) => {
    if (!token) return;
    const command = token.kind === "command" ? commands.find(({ name }) => name === one.id) : undefined;
    if (command?.run) {
      onText("");
      command.run();
      return;
    }
    const next = replaced(text, token, one.id, one.isFolder === true);
    onText(next.text);
    setCaret(next.caret);
    setAt(0);
    // After the text is in the field.
    requestAnimationFrame(() => field.current?.setSelectionRange(next.caret, next.caret));
  };
  const onKeyDown = (event: KeyboardEvent): boolean => {
    const chosen = shown[active];
    if (!chosen || event.nativeEvent.isComposing) return false;
    const to = { ArrowDown: active + 1, ArrowUp: active - 1 }[event.key];
    if (to !== undefined) setAt((to + shown.length) % shown.length);
    else if (event.key === "Escape") setDismissed(text);
    else if (event.key === "Tab" || (event.key === "Enter" && !event.shiftKey && !event.ctrlKey)) choose(chosen);
    else return false;
    event.preventDefault();
    return true;
  };
  const follow = () => {
    setCaret(field.current?.selectionStart ?? 0);
    setAt(0);
  };
  return { shown, active, choose, onKeyDown, follow, kind: token?.kind ?? "file" };
}

const NONE: readonly Suggestion[] = [];

/** The folder that is being typed. Read when somebody types an `@`, and not before. */
function useFiles(client: WarrenClient, sessionId: string, token: Token | null): readonly Suggestion[] {
  const folder = token?.kind === "file" ? splitPath(token.query).folder : null;
  const listing = useResource(`complete ${sessionId} ${folder ?? ""} ${folder === null}`, async () => (folder === null ? null : client.files(sessionId, folder)));
  if (!listing.data) return NONE;
  return listing.data.entries.map((entry) => {
    const isFolder = entry.kind === "directory";
    return { id: `${entry.path}${isFolder ? "/" : ""}`, label: `${entry.name}${isFolder ? "/" : ""}`, note: isFolder ? "folder" : undefined, isFolder };
  });
}
