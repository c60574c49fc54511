import type { Replay, Version } from "@warren/react";
import { useState, type ReactNode } from "react";
import { cost, plural, when } from "~/lib/format";
import { navigate, sessionPath } from "~/lib/router";
import { Button } from "~/ui/Button";
import { Icon } from "~/ui/Icon";
import { toast } from "~/ui/toasts";
import { usePerson } from "../shell/person";
import { LabelField } from "./LabelField";
import { RestoreDialog } from "./RestoreDialog";
import { ReplayDialog } from "./ReplayDialog";
import { inShort } from "./replay";

type Actions = {
  fork: (options: { version?: number }) => Promise<{ sessionId: string }>;
  restore: (version: number) => Promise<Version>;
  label: (version: number, label: string | null) => Promise<Version>;
  replay: (runId: string) => Promise<unknown>;
};

type Props = {
  sessionId: string;
  version: Version;
  /** What it cost since the one before. */
  costUSD: number;
  title: string;
  isSelected: boolean;
  isLatest: boolean;
  replay: Replay | null;
  actions: Actions;
  onSelect: () => void;
  /** Forks that left here; they stand above it. */
  children: ReactNode;
};

/** One version on the line. */
export function VersionNode(props: Props) {
  const { version, costUSD, title, isSelected, replay, onSelect, children } = props;
  const [open, setOpen] = useState<"label" | "restore" | "replay" | null>(null);
  const { added = 0, changed = 0, removed = 0 } = version.files;
  const files = added + changed + removed;
  return (
    <>
      {children}
      <div className={`vn ${isSelected ? "sel" : ""}`}>
        <span className="rg num" aria-hidden="true">{version.version}</span>
        <button type="button" className="vpick" aria-pressed={isSelected} aria-label={`Version ${version.version}: ${title}`} onClick={onSelect} />
        {open === "label" ? (
          <LabelField label={version.label ?? ""} onSave={(label) => props.actions.label(version.version, label)} onDone={() => setOpen(null)} />
        ) : (
          <b className="cut"><bdi>{title}</bdi></b>
        )}
        <span className="mt num">
          {when(version.createdAt)} · {plural(version.blocks, "block")}{costUSD > 0 && ` · ${cost(costUSD)}`}
          {version.shared && " · shared workspace"}
          {replay && !isSelected && <ReplayChip replay={replay} onOpen={() => setOpen("replay")} />}
        </span>
        <span className="rt num">
          {files === 0 ? "no file" : plural(files, "file")}
          <br />
          {/* In words: signs would be taken for lines. */}
          {[added > 0 && `${added} new`, changed > 0 && `${changed} changed`, removed > 0 && `${removed} removed`].filter(Boolean).join(", ")}
        </span>
        {isSelected && <Acts {...props} onOpen={setOpen} />}
      </div>
      {open === "restore" && <RestoreDialog sessionId={props.sessionId} version={version.version} restore={props.actions.restore} onClose={() => setOpen(null)} />}
      {open === "replay" && replay && <ReplayDialog sessionId={props.sessionId} replay={replay} onClose={() => setOpen(null)} />}
    </>
  );
}

function Acts({ version, isLatest, replay, actions, onOpen }: Props & { onOpen: (open: "label" | "restore" | "replay") => void }) {
  const { mayRun } = usePerson();
  // What failed, and the replay there was then: a newer one says more.
  const [failed, setFailed] = useState<{ why: string; replayId: string | undefined } | null>(null);
  const attempt = (work: Promise<unknown>) => {
    setFailed(null);
    work.catch((error: unknown) => setFailed({ why: error instanceof Error ? error.message : String(error), replayId: replay?.replayId }));
  };
  const fork = async () => {
    const made = await actions.fork({ version: version.version });
    navigate(sessionPath(made.sessionId));
    toast({ title: "Forked", text: `The new session starts from v${version.version}.`, icon: "fork" });
  };
  return (
    <div className="vacts">
      {mayRun && <Button look="ink" icon="fork" onClick={() => attempt(fork())}>Fork</Button>}
      {mayRun && !isLatest && <Button look="line" icon="undo" onClick={() => onOpen("restore")}>Restore</Button>}
      {mayRun && version.runId && <Button look="line" icon="play" disabled={replay?.status === "running"} onClick={() => attempt(actions.replay(version.runId ?? ""))}>Replay</Button>}
      {mayRun && <Button look="ghost" icon="pencil" onClick={() => onOpen("label")}>{version.label ? "Edit label" : "Label"}</Button>}
      <span className="grow" />
      {replay && <ReplayChip replay={replay} onOpen={() => onOpen("replay")} />}
      {failed && failed.replayId === replay?.replayId && <p className="dlg-bad vfail" role="alert">{failed.why}</p>}
    </div>
  );
}

function ReplayChip({ replay, onOpen }: { replay: Replay; onOpen: () => void }) {
  const { text, tone } = inShort(replay);
  return (
    <button type="button" className={`chip ${tone}`} onClick={onOpen}>
      {tone === "" && replay.status === "done" && <Icon name="check" size="xs" />}
      {text}
    </button>
  );
}
