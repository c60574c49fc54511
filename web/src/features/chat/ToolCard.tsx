import { memo, useMemo, type ReactNode } from "react";
import { took } from "./took";
import { useNow } from "~/lib/clockwork";
import { useOpened } from "~/lib/opened";
import { visible } from "~/lib/ansi";
import { DiffView } from "~/ui/DiffView";
import { Icon } from "~/ui/Icon";
import { Markdown } from "~/ui/Markdown";
import { useChat } from "./context";
import { Output } from "./Output";
import { Step } from "./Step";
import { timeOf, type Tool } from "./rows";
import { brief, commandOf, diffsOf, lineOf, outcomeOf, outputText } from "./tools";

/** A call of a tool: one line when it ended well; open when it failed, edits or runs. */
export const ToolCard = memo(function ToolCard({ tool, live }: { tool: Tool; live: boolean }) {
  const { use, result } = tool;
  const line = useMemo(() => lineOf(use), [use]);
  const diffs = useMemo(() => diffsOf(use), [use]);
  const held = useChat().held.has(use.toolUseId);
  const running = live && !held && (use.status === "running" || use.status === "pending");
  const failed = result?.isError === true || use.status === "error";
  const stopped = use.status === "error" && !result;
  const usual = failed || (running && line.kind !== "ask") || (line.kind === "edit" && diffs.length > 0);
  const [open, setOpen] = useOpened(use.id, usual);
  const card = open || usual;
  return (
    <Step look={failed ? "bad" : held ? "rg0" : running ? (use.status === "pending" ? "rg0" : "run") : card ? "rg0" : ""} icon={stopped ? "stop" : failed ? "x" : line.kind === "run" && !held && !running && isDone(tool) ? "check" : line.icon}>
      <details className={`tool ${card ? "card" : ""}`} open={open} onToggle={(event) => setOpen(event.currentTarget.open)}>
        <summary>
          <b>{line.verb}</b>
          <code className="cut" dir="auto">{visible(line.object)}</code>
          {line.kind === "mcp" && <span className="chip">MCP</span>}
          <Result tool={tool} diffs={diffs} failed={failed} stopped={stopped} kind={line.kind} />
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

/** It ended, as far as anybody knows. One that waits to be allowed may be complete as a block, and has not begun. */
const isDone = ({ use, result }: Tool): boolean => result !== undefined || use.status === "success";

type ResultProps = { tool: Tool; diffs: ReturnType<typeof diffsOf>; failed: boolean; stopped: boolean; kind: ReturnType<typeof lineOf>["kind"] };

function Result({ tool, diffs, failed, stopped, kind }: ResultProps): ReactNode {
  const outcome = useMemo(() => (tool.result ? outcomeOf(kind, tool.result.output, tool.result.isError) : ""), [tool.result, kind]);
  if (stopped) return <span className="chip">stopped</span>;
  if (failed) return <span className="chip bad">{outcome || "failed"}</span>;
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
  const said = result ? outputText(result.output) : "";
  const command = commandOf(use.input);
  const showsInput = !diffs.length && !command && brief(use.input) !== "";
  return (
    <div className="tool-body">
      {command && (command.includes("\n") || command.length > 80) && <Output text={command} label="Command" />}
      {diffs.map(({ path, diff }, at) => (
        <DiffView key={at} path={path} diff={diff} />
      ))}
      {showsInput && <Output text={JSON.stringify(use.input, null, 2)} label="Input" />}
      {said && !(diffs.length && !result?.isError) && <Said text={said} markdown={result?.renderOutputAsMarkdown === true} live={running} />}
      {running && !said && <Output text="" live />}
      {!running && result && !said && !diffs.length && <p className="tool-note">It printed nothing.</p>}
    </div>
  );
}

function Said({ text, markdown, live }: { text: string; markdown: boolean; live: boolean }) {
  if (markdown) {
    return (
      <div className="say tool-md">
        <Markdown text={text} />
      </div>
    );
  }
  return <Output text={text} live={live} />;
}
