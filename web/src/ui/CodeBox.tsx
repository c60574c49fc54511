import { useMemo } from "react";
import { useHighlighter } from "~/lib/highlight";
import { CopyButton } from "./CopyButton";
import { Pieces } from "./Pieces";

/** Code of a text, with its language and a button to copy it. */
export function CodeBox({ lang, text, open }: { lang: string; text: string; open: boolean }) {
  // An open fence is plain text in the same box: its height does not change when it closes.
  const paint = useHighlighter(open ? "" : lang);
  const pieces = useMemo(() => (open ? [{ text, className: "" }] : paint(text)), [text, paint, open]);
  return (
    <div className="codebox">
      <div className="codehead">
        <span>{lang || "text"}</span>
        {!open && <CopyButton text={text} />}
      </div>
      <pre dir="ltr" tabIndex={0} role="group" aria-label={lang ? `Code, ${lang}` : "Code"}>
        <code>
          <Pieces pieces={pieces} />
        </code>
      </pre>
    </div>
  );
}
