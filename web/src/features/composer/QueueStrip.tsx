import type { Content, Run } from "@warren/react";
import { useState } from "react";
import { Button } from "~/ui/Button";
import { Icon } from "~/ui/Icon";

type Props = { runs: readonly Run[]; onReword: ((runId: string, text: string) => Promise<unknown>) | null; onDrop: ((runId: string) => Promise<unknown>) | null };

/** Messages that wait for their turn: they can be changed or taken back until it comes. */
export function QueueStrip({ runs, onReword, onDrop }: Props) {
  return runs.map((run, at) => <Waiting key={run.runId} run={run} first={at === 0} onReword={onReword} onDrop={onDrop} />);
}

function Waiting({ run, first, onReword, onDrop }: Omit<Props, "runs"> & { run: Run; first: boolean }) {
  const [edited, setEdited] = useState<string | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  const text = textOf(run.content);
  const say = (error: unknown) => setProblem(error instanceof Error ? error.message : String(error));
  if (edited !== null) {
    return (
      <form
        className="queued"
        onSubmit={(event) => {
          event.preventDefault();
          onReword?.(run.runId, edited).then(() => setEdited(null), say);
        }}
      >
        <input className="inp-line grow" aria-label="Queued message" autoFocus value={edited} onChange={(event) => setEdited(event.target.value)} onKeyDown={(event) => event.key === "Escape" && setEdited(null)} />
        <Button type="submit" look="line" disabled={!edited.trim()}>Save</Button>
      </form>
    );
  }
  return (
    <div className="queued" role="group" aria-label="Queued message">
      <Icon name="clock" size="s" />
      <span className="cut grow" dir="auto">{text}</span>
      <span className="muted" role={problem ? "alert" : undefined}>{problem ?? (first ? "Queued next" : "Queued")}</span>
      {onReword && typeof run.content === "string" && <Button icon="pencil" className="tiny" aria-label="Edit queued message" onClick={() => setEdited(text)} />}
      {onDrop && <Button icon="x" className="tiny" aria-label="Remove queued message" onClick={() => onDrop(run.runId).catch(say)} />}
    </div>
  );
}

/** A message's text; what is not text is named. */
export function textOf(content: Content): string {
  if (typeof content === "string") return content;
  return content.map((part) => ("text" in part ? part.text : "file" in part ? `[${part.file}]` : "[picture]")).join(" ");
}
