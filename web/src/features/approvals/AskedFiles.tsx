import { exactly } from "~/lib/ansi";
import { plural } from "~/lib/format";
import { DiffView } from "~/ui/DiffView";
import type { Asked, FileChange } from "./changes";

const WORDS: Record<FileChange["act"], string> = { write: "Write", edit: "Edit", delete: "Delete", move: "Move" };

/** The files that a request would change: the path first, then the lines; the raw input on demand. */
export function AskedFiles({ asked, raw }: { asked: Asked; raw: string }) {
  return (
    <div className="asked-files">
      {asked.files.map(({ path, act, to, diff }, at) => (
        <section key={at} className="asked-file" aria-label={`${WORDS[act]} ${path}`}>
          <div className="path">
            <b>{WORDS[act]}</b>
            <code dir="ltr">{exactly(path)}{to !== null && ` → ${exactly(to)}`}</code>
            <span className="num">
              {diff.added > 0 && <span className="plus">+{diff.added}</span>} {diff.removed > 0 && <span className="minus">−{diff.removed}</span>}
            </span>
          </div>
          {diff.hunks.length > 0 ? <DiffView path={path} diff={diff} /> : act === "write" && <p className="tool-note">An empty file.</p>}
        </section>
      ))}
      {asked.rest.length > 0 && (
        <dl className="facts">
          {asked.rest.map(([name, value]) => <div key={name}><dt className="mono">{name}</dt><dd className="mono">{value}</dd></div>)}
        </dl>
      )}
      <details className="raw">
        <summary>Raw input, {plural(raw.length, "character")}</summary>
        <pre className="cmd" dir="ltr" tabIndex={0} role="region" aria-label="Input">{exactly(raw)}</pre>
      </details>
    </div>
  );
}
