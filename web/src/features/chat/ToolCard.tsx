import { memo, useMemo, type ReactNode } from "react";
import { took } from "./took";
import { useNow } from "~/lib/clockwork";
import { useOpened } from "~/lib/opened";
import { visible } from "~/lib/ansi";
import { DiffView } from "~/ui/DiffView";
import { Icon } from "~/ui/Icon";
import type { IconName } from "~/ui/IconSprite";
import { Markdown } from "~/ui/Markdown";
import { useChat } from "./context";
import { Output } from "./Output";
import { Step } from "./Step";
import { timeOf, type Tool } from "./rows";
import { brief, commandOf, diffsOf, endingOf, lineOf, outcomeOf, outputText, type Ending } from "./tools";
import { useWhole } from "./useWhole";

const ICONS: Partial<Record<Ending, IconName>> = { failed: "x", denied: "hand", stopped: "stop" };

/** A call of a tool: one line when it ended well; open when it failed, edits or runs. */
export const ToolCard = memo(function ToolCard({ tool, live }: { tool: Tool; live: boolean }) {
  const { use, result } = tool;
  const chat = useChat();
  const line = useMemo(() => lineOf(use), [use]);
  const diffs = useMemo(() => diffsOf(use, result?.output), [use, result]);
  const held = chat.held.has(use.toolUseId);
  const running = live && !held && (use.status === "running" || use.status === "pending");
  const ending = endingOf(use.status, result, chat.denied.has(use.toolUseId));
  const bad = ending === "failed";
  const usual = bad || (running && line.kind !== "ask") || (line.kind === "edit" && diffs.length > 0);
  const [open, setOpen] = useOpened(use.id, usual);
  const card = open || usual;
  const look = bad ? "bad" : held ? "rg0" : running ? (use.status === "pending" ? "rg0" : "run") : card ? "rg0" : "";
  return (
    <Step look={look} icon={ICONS[ending] ?? (line.kind === "run" && !held && ending === "done" ? "check" : line.icon)}>
      <details className={`tool ${card ? "card" : ""}`} open={open} onToggle={(event) => setOpen(event.currentTarget.open)}>
        <summary>
          <b>{line.verb}</b>
          <code className="cut" dir="auto">{visible(line.object)}</code>
          {line.kind === "mcp" && <span className="chip">MCP</span>}
          <Result tool={tool} diffs={diffs} ending={ending} kind={line.kind} />
          <span className="meta num">
            <Lasted tool={tool} running={running} />
            <Icon name="right" size="xs" className="chev" />
          </span>
        </summary>
        {open && <Body tool={tool} diffs={diffs} running={running} />}
      </details>
    </Step>
  );
});

type ResultProps = { tool: Tool; diffs: ReturnType<typeof diffsOf>; ending: Ending; kind: ReturnType<typeof lineOf>["kind"] };

function Result({ tool, diffs, ending, kind }: ResultProps): ReactNode {
  const outcome = useMemo(() => (tool.result ? outcomeOf(kind, tool.result.output, tool.result.isError) : ""), [tool.result, kind]);
  if (ending === "stopped" || ending === "denied") return <span className="chip">{ending}</span>;
  if (ending === "failed") return <span className="chip bad">{outcome || "failed"}</span>;
  if (diffs.length) {
    const added = diffs.reduce((n, { diff }) => n + diff.added, 0);
    const removed = diffs.reduce((n, { diff }) => n + diff.removed, 0);
    return (
      <span className="num">
        {added > 0 && <span className="plus">+{added}</span>} {removed > 0 && <span className="minus">−{removed}</span>}
      </span>
    );
  }
  return outcome ? <span className="muted num">{outcome}</span> : null;
}

function Lasted({ tool, running }: { tool: Tool; running: boolean }) {
  const now = useNow(running);
  if (running) return <span>{took(Math.max(0, now - timeOf(tool.use)))}</span>;
  return tool.result?.durationMs == null ? null : <span>{took(tool.result.durationMs)}</span>;
}

function Body({ tool, diffs, running }: { tool: Tool; diffs: ReturnType<typeof diffsOf>; running: boolean }) {
  const { use, result } = tool;
  const whole = useWhole(result);
  const said = whole.result ? outputText(whole.result.output) : "";
  const command = commandOf(use.input);
  const showsInput = !diffs.length && !command && brief(use.input) !== "";
  return (
    <div className="tool-body">
      {command && (command.includes("\n") || command.length > 80) && <Output text={command} label="Command" />}
      {diffs.map(({ path, diff }, at) => (
        <DiffView key={at} path={path} diff={diff} />
      ))}
      {showsInput && <Output text={JSON.stringify(use.input, null, 2)} label="Input" />}
      {said && !(diffs.length && !result?.isError) && <Said text={said} markdown={result?.renderOutputAsMarkdown === true} live={running} isCut={whole.isCut} onWhole={whole.load} />}
      {whole.problem && <p className="tool-note bad" role="alert">The whole output could not be loaded: {whole.problem}</p>}
      {running && !said && <Output text="" live />}
      {!running && result && !said && !diffs.length && <p className="tool-note">No output.</p>}
    </div>
  );
}

type SaidProps = { text: string; markdown: boolean; live: boolean; isCut: boolean; onWhole: () => Promise<void> };

function Said({ text, markdown, live, isCut, onWhole }: SaidProps) {
  if (markdown && !isCut) {
    return (
      <div className="say tool-md">
        <Markdown text={text} />
      </div>
    );
  }
  return <Output text={text} live={live} isCut={isCut} onWhole={onWhole} />;
}
