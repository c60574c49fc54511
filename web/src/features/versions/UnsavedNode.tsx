import { useState } from "react";
import { plural } from "~/lib/format";
import { navigate, sessionPath } from "~/lib/router";
import { Button } from "~/ui/Button";
import { Dot } from "~/ui/Dot";
import { markOf } from "../files/tree";
import { Since } from "../files/Since";
import type { Unsaved } from "../files/unsaved";
import { viewOf } from "../viewers/kinds";
import { usePerson } from "../shell/person";

type NodeProps = { sessionId: string; version: number; files: number; isSelected: boolean; onSelect: () => void; onSave: () => void };

/** What is in no version yet, above the line: opened, compared with the latest version, and saved. */
export function UnsavedNode({ sessionId, version, files, isSelected, onSelect, onSave }: NodeProps) {
  const { mayRun } = usePerson();
  return (
    <div className={`vn ${isSelected ? "sel" : ""}`}>
      <span className="rg"><Dot state="wait" label="Not saved" /></span>
      <button type="button" className="vpick" aria-pressed={isSelected} aria-label={`Not saved: changes since version ${version}`} onClick={onSelect} />
      <b>Not saved</b>
      <span className="mt">Changed since v{version}. Saved before the next run, or when you save a version.</span>
      {files > 0 && <span className="rt num">{plural(files, "file")}</span>}
      {isSelected && (
        <div className="vacts">
          {mayRun && <Button look="ink" icon="check" onClick={onSave}>Save version…</Button>}
          <Button look="line" icon="folder" onClick={() => navigate(sessionPath(sessionId, "files"))}>Open files</Button>
        </div>
      )}
    </div>
  );
}

type CompareProps = { sessionId: string; version: number; files: ReadonlyMap<string, Unsaved> };

/** The files as they are now beside the latest version. */
export function UnsavedCompare({ sessionId, version, files }: CompareProps) {
  const [open, setOpen] = useState<string | null>(files.size === 1 ? ([...files.keys()][0] ?? null) : null);
  return (
    <section className="cmp unsaved-cmp" aria-label="Not saved">
      <div className="hd"><b>Compare</b><span className="muted">v{version} to the files now</span></div>
      {files.size === 0 && <p className="pane-note muted">No file of the workspace differs from v{version}. Uploads, folders that versions leave out, or the agent’s own files do.</p>}
      {[...files.values()].map((file) => {
        const mark = markOf(file);
        const isOpen = open === file.path;
        return (
          <div key={file.path}>
            <button type="button" className="fr unsaved-row" aria-expanded={isOpen} onClick={() => setOpen(isOpen ? null : file.path)}>
              <span className={`mk ${mark}`} role="img" aria-label={file.movedFrom ? "renamed" : file.change}>{mark}</span>
              <bdi className="cut">{file.movedFrom ? `${file.movedFrom} → ${file.path}` : file.path}</bdi>
            </button>
            {isOpen && (isText(file.path) ? <Since sessionId={sessionId} path={file.path} version={version} unsaved={file} stamp={file.seq} /> : <p className="pane-note muted">Not a text file.</p>)}
          </div>
        );
      })}
    </section>
  );
}

const isText = (path: string): boolean => ["text", "markdown", "csv"].includes(viewOf(path));
