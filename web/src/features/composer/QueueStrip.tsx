import type { Content, Run } from "@warren/react";
import { useLayoutEffect, useRef, useState, type KeyboardEvent } from "react";
import { said } from "~/lib/problem";
import { Button } from "~/ui/Button";
import { Icon } from "~/ui/Icon";

type Props = {
  runs: readonly Run[];
  /** A person stopped the run before them: they wait until one is sent or they are resumed. */
  held: boolean;
  /** Those sent to steer the run in progress. */
  steered: ReadonlySet<string>;
  onResume: () => Promise<unknown>;
  onReword: (runId: string, text: string) => Promise<unknown>;
  /** A place counts from 1. */
  onMove: (runId: string, place: number) => Promise<unknown>;
  onDrop: (runId: string) => Promise<unknown>;
};

/** Messages that wait for their turn: until it comes they can be changed, put in another order or taken back. */
export function QueueStrip({ runs, held, steered, onResume, onMove, ...acts }: Props) {
  const strip = useRef<HTMLDivElement>(null);
  const moved = useRef<{ runId: string; isUp: boolean } | null>(null);
  const dragged = useRef<string | null>(null);
  const order = runs.map((run) => run.runId).join(" ");
  // A layout effect: a row that changes its place is put into the document anew, and the focus goes with it.
  useLayoutEffect(() => {
    if (!moved.current) return;
    const { runId, isUp } = moved.current;
    moved.current = null;
    const arrows = [...(strip.current?.querySelectorAll<HTMLButtonElement>(`[data-run="${CSS.escape(runId)}"] [data-move]`) ?? [])];
    const usable = (isUp ? arrows : arrows.reverse()).find((arrow) => !arrow.disabled);
    usable?.focus();
  }, [order]);
  const move = (runId: string, from: number, to: number) => {
    moved.current = { runId, isUp: to < from };
    return onMove(runId, to);
  };
  return (
    <div className="queue" ref={strip}>
      {held && runs.length > 0 && <Held n={runs.length} onResume={onResume} />}
      {runs.map((run, at) => (
        <Waiting
          key={run.runId}
          run={run}
          place={at + 1}
          of={runs.length}
          status={held ? "Held" : steered.has(run.runId) ? "Read at the agent’s next step, else runs next" : at === 0 ? "Queued next" : "Queued"}
          onMove={(to) => move(run.runId, at + 1, to)}
          onDrag={() => (dragged.current = run.runId)}
          onDropHere={() => (dragged.current && dragged.current !== run.runId ? onMove(dragged.current, at + 1) : Promise.resolve())}
          {...acts}
        />
      ))}
    </div>
  );
}

function Held({ n, onResume }: { n: number; onResume: () => Promise<unknown> }) {
  const [problem, setProblem] = useState<string | null>(null);
  return (
    <div className="queue-held" role="group" aria-label="Queue held">
      <Icon name="stop" size="s" />
      <span className="grow" role={problem ? "alert" : undefined}>{problem ?? `Stopped. ${n === 1 ? "The queued message waits" : `${n} queued messages wait`} until you resume or send a message.`}</span>
      <Button look="line" onClick={() => void onResume().catch((error: unknown) => setProblem(said(error)))} title="Sends the queued messages to the agent, one after the other">Resume queue</Button>
    </div>
  );
}

type WaitingProps = Omit<Props, "runs" | "onMove" | "held" | "steered" | "onResume"> & {
  run: Run;
  place: number;
  of: number;
  /** When it will run. */
  status: string;
  onMove: (place: number) => Promise<unknown>;
  onDrag: () => void;
  onDropHere: () => Promise<unknown>;
};

function Waiting({ run, place, of, status, onReword, onMove, onDrop, onDrag, onDropHere }: WaitingProps) {
  const [edited, setEdited] = useState<string | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  const text = textOf(run.content);
  const say = (error: unknown) => setProblem(said(error));
  const tried = (what: Promise<unknown>) => what.then(() => setProblem(null), say);
  if (edited !== null) {
    return (
      <form
        className="queued"
        onSubmit={(event) => {
          event.preventDefault();
          onReword(run.runId, edited).then(() => setEdited(null), say);
        }}
      >
        <input className="inp-line grow" aria-label="Queued message" autoFocus value={edited} onChange={(event) => setEdited(event.target.value)} onKeyDown={(event) => event.key === "Escape" && setEdited(null)} />
        {problem && <span className="muted" role="alert">{problem}</span>}
        <Button type="submit" look="line" disabled={!edited.trim()}>Save</Button>
      </form>
    );
  }
  const onKeyDown = (event: KeyboardEvent) => {
    const to = { ArrowUp: place - 1, ArrowDown: place + 1 }[event.key];
    if (!event.altKey || to === undefined || to < 1 || to > of) return;
    event.preventDefault();
    void tried(onMove(to));
  };
  return (
    <div
      className="queued"
      role="group"
      aria-label="Queued message"
      data-run={run.runId}
      draggable={of > 1}
      onDragStart={(event) => {
        // Not a file, and nothing that a field should take as text.
        event.dataTransfer.setData("application/x-warren-run", run.runId);
        event.dataTransfer.effectAllowed = "move";
        onDrag();
      }}
      onDragOver={(event) => event.dataTransfer.types.includes("application/x-warren-run") && event.preventDefault()}
      onDrop={(event) => {
        event.preventDefault();
        void tried(onDropHere());
      }}
      onKeyDown={onKeyDown}
    >
      <Icon name="clock" size="s" />
      <span className="cut grow" dir="auto" title={text}>{text}</span>
      <span className="muted" role={problem ? "alert" : undefined}>{problem ?? status}</span>
      {of > 1 && <Button icon="up" className="tiny" data-move="" aria-label="Move queued message up" title="Sooner (Alt ↑)" disabled={place === 1} onClick={() => void tried(onMove(place - 1))} />}
      {of > 1 && <Button icon="arrdn" className="tiny" data-move="" aria-label="Move queued message down" title="Later (Alt ↓)" disabled={place === of} onClick={() => void tried(onMove(place + 1))} />}
      {typeof run.content === "string" && <Button icon="pencil" className="tiny" aria-label="Edit queued message" title="Edit" onClick={() => setEdited(text)} />}
      <Button icon="x" className="tiny" aria-label="Remove queued message" title="Remove" onClick={() => onDrop(run.runId).catch(say)} />
    </div>
  );
}

/** A message's text; what is not text is named. */
export function textOf(content: Content): string {
  if (typeof content === "string") return content;
  return content.map((part) => ("text" in part ? part.text : "file" in part ? `[${part.file}]` : "[picture]")).join(" ");
}
