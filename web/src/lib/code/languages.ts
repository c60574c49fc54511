// Which grammar belongs to a name: a file's extension, a file's name, or the word after a code fence.
import { LanguageDescription } from "@codemirror/language";
import { languages } from "@codemirror/language-data";

/** Words that people write where a grammar has another name. */
const ALSO: Record<string, string> = { console: "sh", "shell-session": "sh", zsh: "sh", jsonl: "json", jsonc: "json", ipynb: "json", rs: "rust", patch: "diff" };

export function grammarOf(name: string): LanguageDescription | null {
  const word = ALSO[name.toLowerCase()] ?? name;
  return (
    LanguageDescription.matchFilename(languages, `x.${word.toLowerCase()}`) ??
    LanguageDescription.matchLanguageName(languages, word, false) ??
    LanguageDescription.matchFilename(languages, word)
  );
}
