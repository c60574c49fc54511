// What the editor can do, and how it looks. Colours are the page's tokens, which reach into its shadow root.
import { closeBrackets, closeBracketsKeymap } from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap, indentWithTab } from "@codemirror/commands";
import { bracketMatching, HighlightStyle, indentOnInput, syntaxHighlighting } from "@codemirror/language";
import { highlightSelectionMatches, search, searchKeymap } from "@codemirror/search";
import type { Extension } from "@codemirror/state";
import { drawSelection, EditorView, highlightActiveLine, highlightActiveLineGutter, highlightSpecialChars, keymap, lineNumbers } from "@codemirror/view";
import { tags as t } from "@lezer/highlight";

type Acts = { onSave: () => void; onLeave: () => void };

/**
 * Text typed over a selection. The browser would keep the look of what it removes as inline styles, which the page's policy
 * refuses; so it is not left to the browser. What else handles input, as closing brackets, still has its turn.
 */
const typedOver = EditorView.domEventHandlers({
  beforeinput(event, view) {
    const { from, to, empty } = view.state.selection.main;
    const text = event.data;
    if (event.inputType !== "insertText" || !text || empty || view.composing || view.state.readOnly) return false;
    event.preventDefault();
    const insert = () => view.state.update(view.state.replaceSelection(text), { userEvent: "input.type", scrollIntoView: true });
    if (!view.state.facet(EditorView.inputHandler).some((handle) => handle(view, from, to, text, insert))) view.dispatch(insert());
    return true;
  },
});

export const setup = ({ onSave, onLeave }: Acts): Extension => [
  typedOver,
  lineNumbers(),
  highlightActiveLineGutter(),
  highlightSpecialChars(),
  history(),
  drawSelection(),
  indentOnInput(),
  bracketMatching(),
  closeBrackets(),
  highlightActiveLine(),
  highlightSelectionMatches(),
  search({ top: true }),
  syntaxHighlighting(COLOURS),
  LOOK,
  keymap.of([
    { key: "Mod-s", preventDefault: true, run: () => (onSave(), true) },
    ...closeBracketsKeymap,
    ...searchKeymap,
    ...historyKeymap,
    ...defaultKeymap.filter((one) => one.key !== "Escape"),
    indentWithTab,
    // After the search panel had its turn. Tab indents, so this is also the way out by keyboard.
    { key: "Escape", run: () => (onLeave(), true) },
  ]),
];

const COLOURS = HighlightStyle.define([
  { tag: [t.keyword, t.modifier, t.self, t.null, t.bool, t.atom, t.tagName, t.processingInstruction], color: "var(--k)" },
  { tag: [t.string, t.special(t.string), t.regexp, t.attributeValue, t.character], color: "var(--s)" },
  { tag: [t.function(t.variableName), t.function(t.propertyName), t.macroName, t.attributeName, t.heading, t.labelName], color: "var(--f)" },
  { tag: [t.number, t.unit, t.color, t.escape], color: "var(--n)" },
  { tag: [t.comment, t.meta], color: "var(--c)", fontStyle: "italic" },
]);

const LOOK = EditorView.theme({
  "&": { height: "100%", fontSize: "12px", color: "var(--ink)", backgroundColor: "var(--raised)" },
  "&.cm-focused": { outline: "none" },
  ".cm-scroller": { fontFamily: "var(--mono)", lineHeight: "20px" },
  ".cm-content": { caretColor: "var(--ink)", padding: "6px 0" },
  ".cm-cursor": { borderLeftColor: "var(--ink)" },
  ".cm-gutters": { backgroundColor: "var(--raised)", color: "var(--ink-3)", border: "0", fontSize: "11px" },
  ".cm-activeLine, .cm-activeLineGutter": { backgroundColor: "color-mix(in srgb, var(--hover) 55%, transparent)" },
  "&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground": { background: "var(--accent-soft)" },
  ".cm-selectionMatch": { backgroundColor: "var(--warn-soft)" },
  ".cm-searchMatch": { backgroundColor: "var(--warn-soft)", outline: "1px solid var(--warn-line)" },
  ".cm-searchMatch-selected": { backgroundColor: "var(--add-hi)" },
  ".cm-matchingBracket": { backgroundColor: "var(--accent-soft)", outline: "1px solid var(--accent-line)" },
  ".cm-panels": { backgroundColor: "var(--surface)", color: "var(--ink)", borderColor: "var(--line)", fontFamily: "var(--font)" },
  ".cm-panels.cm-panels-top": { borderBottom: "1px solid var(--line)" },
  ".cm-panel.cm-search": { padding: "6px 28px 6px 10px", fontSize: "12px" },
  ".cm-panel.cm-search label": { color: "var(--ink-2)", fontSize: "12px" },
  ".cm-panel.cm-search [name=close]": { color: "var(--ink-2)", cursor: "pointer", fontSize: "16px" },
  ".cm-textfield": { border: "1px solid var(--edge)", borderRadius: "6px", backgroundColor: "var(--raised)", color: "var(--ink)", fontSize: "12px", padding: "3px 7px" },
  ".cm-button": { border: "1px solid var(--line-2)", borderRadius: "6px", background: "var(--raised)", color: "var(--ink)", fontSize: "12px", padding: "3px 8px", cursor: "pointer" },
});
