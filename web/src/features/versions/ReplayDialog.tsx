import type { Replay } from "@warren/react";
import { count, plural } from "~/lib/format";
import { readUnified } from "~/lib/diff";
import { Button } from "~/ui/Button";
import { Dialog } from "~/ui/Dialog";
import { DiffView } from "~/ui/DiffView";
import { inShort, wrong } from "./replay";

type Props = { sessionId: string; replay: Replay; onClose: () => void };

/** What a replay compared, and where it first came out otherwise. */
export function ReplayDialog({ replay, onClose }: Props) {
  const { firstDivergence: first, files, events, calls, differences, notes = [] } = replay;
  return (
    <Dialog label="Replay" className="dlg wide" onClose={onClose}>
      <h2>{inShort(replay).text}</h2>
      <p className="sub">
        The same agent ran again from the same version, with the model’s recorded answers and no model.
      </p>
      {replay.status === "failed" && <p className="dlg-bad">{wrong(replay)} Nothing of the session was changed.</p>}
      {replay.status !== "failed" && (
        <ul className="facts num">
          {calls && <li><b>{count(calls.equal)} of {count(calls.compared)}</b> model calls the same</li>}
          <li><b>{count(events.equal)} of {count(events.compared)}</b> events the same</li>
          <li><b>{count(files.equal)} of {count(files.compared)}</b> files the same</li>
        </ul>
      )}
      {first && (
        <section aria-label="Where it first differs">
          <h3>First difference{first.conversationId && first.conversationId !== "main" ? ` in ${first.conversationId}` : ""}{first.index != null ? `, model call ${first.index}` : ""}</h3>
          <p className="sub"><bdi>{first.message}</bdi></p>
          {first.diff && <div className="dlg-diff"><DiffView path="" diff={readUnified(first.diff)} label="What differs" /></div>}
        </section>
      )}
      {differences.length > 0 && (
        <details>
          <summary>{plural(differences.length, "tool")} said something else; the recorded answers went on</summary>
          <ul>
            {differences.map((one, at) => (
              <li key={at}>
                <bdi>{one.message}</bdi>
                {one.diff && <div className="dlg-diff"><DiffView path="" diff={readUnified(one.diff)} label="What the tool said" /></div>}
              </li>
            ))}
          </ul>
        </details>
      )}
      {notes.map((note) => <p key={note} className="sub"><bdi>{note}</bdi></p>)}
      {files.different.length > 0 && (
        <details>
          <summary>{plural(files.different.length, "file")} came out otherwise</summary>
          <ul className="mono">{files.different.map((path) => <li key={path}><bdi>{path}</bdi></li>)}</ul>
        </details>
      )}
      <div className="dlg-acts"><Button look="line" onClick={onClose}>Close</Button></div>
    </Dialog>
  );
}
