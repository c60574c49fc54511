import { EditorState } from "@codemirror/state";
import { EditorView } from "@codemirror/view";
import { useEffect, useLayoutEffect, useRef } from "react";
import { languageSlot, loadLanguage } from "./language";
import { setup } from "./setup";

type Props = { path: string; label: string; text: string; onChange: (text: string) => void; onSave: () => void; onLeave: () => void };

/**
 * The text editor. It lives in a shadow root, where its style sheets are adopted: the page's policy refuses style elements.
 * `text` is read when the editor is made; afterwards the editor has the text, and reports it.
 */
export default function CodeEditor(props: Props) {
  const host = useRef<HTMLDivElement>(null);
  const latest = useRef(props);
  useEffect(() => {
    latest.current = props;
  });
  useLayoutEffect(() => {
    // The editor is not React's: it is made once, and removed with its element.
    const element = host.current;
    if (!element) return;
    const root = element.shadowRoot ?? element.attachShadow({ mode: "open", delegatesFocus: true });
    const { path, label, text } = latest.current;
    const view = new EditorView({
      root,
      parent: root,
      state: EditorState.create({
        doc: text,
        extensions: [
          // Line ends stay as they are.
          EditorState.lineSeparator.of(/\r\n/.test(text) && !/[^\r]\n/.test(text) ? "\r\n" : "\n"),
          EditorView.contentAttributes.of({ "aria-label": label, spellcheck: "false" }),
          setup({ onSave: () => latest.current.onSave(), onLeave: () => latest.current.onLeave() }),
          languageSlot.of([]),
          EditorView.updateListener.of((update) => {
            if (update.docChanged) latest.current.onChange(update.state.sliceDoc());
          }),
        ],
      }),
    });
    view.focus();
    void loadLanguage(path, view);
    // Letters are text here, and no shortcuts of the page, which sees only the host.
    const own = (event: KeyboardEvent) => (event.ctrlKey || event.metaKey ? undefined : event.stopPropagation());
    element.addEventListener("keydown", own);
    return () => {
      element.removeEventListener("keydown", own);
      view.destroy();
    };
  }, []);
  return <div ref={host} className="code-editor" />;
}
