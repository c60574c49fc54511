// Colours by grammar. Loaded with the first code that is shown.
import { highlightTree, tagHighlighter, tags as t } from "@lezer/highlight";
import type { Paint } from "../highlight";
import { grammarOf } from "./languages";

/** A longer text is shown without colours: a grammar would take too long. */
const MAX_CHARS = 300_000;

const classes = tagHighlighter([
  { tag: [t.keyword, t.modifier, t.self, t.null, t.bool, t.atom, t.tagName, t.processingInstruction], class: "hl-k" },
  { tag: [t.string, t.special(t.string), t.regexp, t.attributeValue, t.character], class: "hl-s" },
  { tag: [t.function(t.variableName), t.function(t.propertyName), t.function(t.definition(t.variableName)), t.macroName, t.attributeName, t.heading, t.labelName], class: "hl-f" },
  { tag: [t.number, t.unit, t.color, t.escape], class: "hl-n" },
  { tag: [t.comment, t.meta], class: "hl-c" },
  { tag: t.inserted, class: "hl-i" },
  { tag: t.deleted, class: "hl-d" },
  { tag: t.invalid, class: "" },
]);

/** Paints code of a language; `null` if there is no grammar for it. */
export async function paintOf(name: string): Promise<Paint | null> {
  const grammar = grammarOf(name);
  if (!grammar) return null;
  const { parser } = (await grammar.load()).language;
  return (text) => {
    if (text.length > MAX_CHARS) return [{ text, className: "" }];
    const out: { text: string; className: string }[] = [];
    const push = (to: number, from: number, className: string) => {
      if (to > from) out.push({ text: text.slice(from, to), className });
    };
    let at = 0;
    highlightTree(parser.parse(text), classes, (from, to, className) => {
      push(from, at, "");
      push(to, Math.max(from, at), className);
      at = Math.max(at, to);
    });
    push(text.length, at, "");
    return out;
  };
}
