import type { Block } from "@warren/react";
import { memo, type ReactNode } from "react";
import { useNow } from "~/lib/clockwork";
import { cost, plural } from "~/lib/format";
import { Button } from "~/ui/Button";
import { Icon } from "~/ui/Icon";
import { Step } from "./Step";
import { took } from "./took";

/** What the system says in the middle of a conversation. */
export const SystemLine = memo(function SystemLine({ block }: { block: Extract<Block, { type: "system" }> }) {
  const bad = block.subtype === "error";
  return (
    <Step icon={bad ? "alert" : "cmd"} look={bad ? "bad" : ""}>
      <div className="note muted" dir="auto">{block.message}</div>
    </Step>
  );
});

/** Something went wrong inside the agent; the run may go on. */
export const ErrorLine = memo(function ErrorLine({ block }: { block: Extract<Block, { type: "error" }> }) {
  return (
    <Step icon="alert" look="bad">
      <ErrorCard title="The agent reports an error" code={block.code ?? undefined}>
        {block.message}
      </ErrorCard>
    </Step>
  );
});

/** What happened, what is kept, what to do. */
export function ErrorCard({ title, children, code, actions }: { title: string; children: ReactNode; code?: string; actions?: ReactNode }) {
  return (
    <div className="errc" role="group" aria-label={title}>
      <b>{title}</b>
      <p dir="auto">{children}</p>
      {(actions || code) && (
        <div className="row acts">
          {actions}
          <span className="grow" />
          {code && <span className="muted mono code-name">{code}</span>}
        </div>
      )}
    </div>
  );
}

/** A version that was kept. */
export type Saved = { version: number; cause: string; restored?: number | null; files?: { added: number; changed: number; removed: number }; blocks?: number; costUSD?: number; ms?: number };

const CAUSES: Record<string, string> = {
  interrupt: "after a stop",
  recovered: "left by a failed run",
  fork: "start of the fork",
  manual: "saved manually",
  import: "imported",
  idle: "auto-saved before the sandbox paused",
  edited: "edited between runs",
  template: "from the template",
};


/** A committed version, with what it holds and what can be done with it. */
export const SavedLine = memo(function SavedLine({ saved, onDiff, onFork }: { saved: Saved; onDiff: () => void; onFork: (() => void) | null }) {
  const isRestore = saved.cause === "restore" && saved.restored != null;
  const files = saved.files ? saved.files.added + saved.files.changed + saved.files.removed : null;
  const facts = [
    files === null ? null : plural(files, "file"),
    saved.blocks == null ? null : plural(saved.blocks, "block"),
    saved.ms == null ? null : took(saved.ms),
    !saved.costUSD ? null : cost(saved.costUSD),
    isRestore ? null : (CAUSES[saved.cause] ?? null),
  ].filter((fact) => fact !== null);
  return (
    <div className={`saved ${isRestore ? "restored" : ""}`}>
      <span className="ver num">{saved.version}</span>
      {isRestore ? <span>Restored <b className="sub">v{saved.restored}</b> as v{saved.version}</span> : <span>Saved <b className="sub">v{saved.version}</b></span>}
      <span className="muted num hide-s">{facts.join(" · ")}</span>
      <hr />
      <button type="button" className="lnk" onClick={onDiff} aria-label={`Diff of v${saved.version}`}>Diff</button>
      {onFork && <button type="button" className="lnk" onClick={onFork} aria-label={`Fork from v${saved.version}`}>Fork</button>}
    </div>
  );
});

/** Where the part begins that a restore took out of the agent's memory. It ends at the line of the restore. */
export const Forgotten = memo(function Forgotten({ restored }: { restored: number }) {
  return (
    <div className="forgot" role="note">
      <Icon name="undo" size="s" />
      <span>Not in the agent’s memory, from here to <b>Restored v{restored}</b>.</span>
    </div>
  );
});

/** How a run ended when it did not end well. */
export type Ended = {
  how: "failed" | "interrupted";
  code?: string;
  message?: string;
  by?: string;
  version: number;
  recoverable?: boolean;
  /** No run came after it. */
  isLatest: boolean;
};

type EndedProps = { ended: Ended; latest: boolean; onContinue: (() => void) | null; onBack: (() => void) | null };

/** A run that failed or was stopped: what is kept, and what to do. */
export const RunEnded = memo(function RunEnded({ ended, latest, onContinue, onBack }: EndedProps) {
  if (ended.how === "interrupted") {
    return (
      <Step icon="stop" look="rg0">
        <div className="note">
          <span>
            <b>{ended.by === "you" || !ended.by ? "Stopped." : `Stopped by ${ended.by}.`}</b> Work up to this point is saved.
          </span>
          <span className="grow" />
          {latest && onContinue && <Button look="line" title="Asks the agent to continue this run’s work" onClick={onContinue}>Continue</Button>}
          {latest && onBack && <Button onClick={onBack}>Restore v{ended.version}</Button>}
        </div>
      </Step>
    );
  }
  return (
    <Step icon="alert" look="bad">
      <ErrorCard
        title="The run failed"
        code={ended.code}
        actions={
          latest && (
            <>
              {onContinue && <Button look="ink" icon="reload" title="Sends the same message again" onClick={onContinue}>Retry</Button>}
              {onBack && <Button look="line" onClick={onBack}>Restore v{ended.version}</Button>}
              {ended.code && <a className="btn ghost" href={`/errors/${encodeURIComponent(ended.code)}`} target="_blank" rel="noreferrer">Details</a>}
            </>
          )
        }
      >
        {sentence(ended.message ?? "The agent stopped without a reason")} Your message and the changed files are kept. No version was saved.
      </ErrorCard>
    </Step>
  );
});

const sentence = (text: string): string => {
  const said = text.trim().replace(/[.\s]*$/, "");
  return `${said.charAt(0).toUpperCase()}${said.slice(1)}.`;
};

/** The sandbox on its way. */
export type Boot = { since: number; message: string | null; done: boolean; guards: string | null };

/** “Initializing sandbox…”, with what is going on. */
export const BootSteps = memo(function BootSteps({ boot, agent }: { boot: Boot; agent: string }) {
  const now = useNow(!boot.done);
  return (
    <Step icon="shield" look={boot.done ? "" : "run"}>
      <ul className="boots">
        <li className="head">
          Initializing sandbox…<span className="num">{took(Math.max(0, now - boot.since))}</span>
        </li>
        {boot.guards && (
          <li>
            <Icon name="check" size="s" />
            Isolation: {boot.guards}
          </li>
        )}
        <li className="muted">
          <span className="dot boot" aria-hidden="true" />
          {boot.guards ? `Starting ${agent}` : (boot.message ?? "Starting sandbox…")}
        </li>
      </ul>
    </Step>
  );
});

/** The model did not answer and is asked again. */
export const Retrying = memo(function Retrying({ attempt, reason, nextAt }: { attempt: number; reason: string; nextAt: number | null }) {
  const now = useNow(nextAt !== null);
  const left = nextAt === null ? null : Math.max(0, Math.ceil((nextAt - now) / 1000));
  return (
    <Step icon="reload" look="warn">
      <div className="note num" role="status">
        {sentence(reason)} {left ? `Retrying in ${left} s.` : `Retrying, attempt ${attempt}.`}
      </div>
    </Step>
  );
});
