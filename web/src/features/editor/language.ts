import { Compartment } from "@codemirror/state";
import type { EditorView } from "@codemirror/view";
import { grammarOf } from "~/lib/code/languages";
import { languageOf } from "~/lib/highlight";

/** Where the grammar goes when it has been loaded. */
export const languageSlot = new Compartment();

export async function loadLanguage(path: string, view: EditorView): Promise<void> {
  // Without its grammar the text can be edited all the same.
  const support = await grammarOf(languageOf(path))?.load().catch(() => null);
  if (support) view.dispatch({ effects: languageSlot.reconfigure(support) });
}
