import { memo } from "react";
import { plural } from "~/lib/format";
import { visible } from "~/lib/ansi";
import { useOpened } from "~/lib/opened";
import { Icon } from "~/ui/Icon";
import { Output } from "./Output";
import { Step } from "./Step";
import { took } from "./took";
import type { Tool } from "./rows";
import { outputText, pathOf } from "./tools";

/** A burst of reads, as one line. */
export const Reads = memo(function Reads({ tools }: { tools: Tool[] }) {
  const [open, setOpen] = useOpened(`reads-${tools[0]!.use.id}`, false);
  const name = (tool: Tool) => visible(pathOf(tool.use.input) ?? "a file");
  const ms = tools.reduce((sum, tool) => sum + (tool.result?.durationMs ?? 0), 0);
  return (
    <Step icon="eye">
      <details className={`tool ${open ? "card" : ""}`} open={open} onToggle={(event) => setOpen(event.currentTarget.open)}>
        <summary>
          <b>Read {plural(tools.length, "file")}</b>
          <code className="cut">{tools.map((tool) => name(tool).split("/").at(-1)).join(", ")}</code>
          <span className="meta num">
            {took(ms)} <Icon name="right" size="xs" className="chev" />
          </span>
        </summary>
        {open && tools.map((tool) => (
          <div key={tool.use.id} className="tool-body">
            <div className="hunk">{name(tool)}</div>
            <Output text={outputText(tool.result?.output)} label={name(tool)} />
          </div>
        ))}
      </details>
    </Step>
  );
});
