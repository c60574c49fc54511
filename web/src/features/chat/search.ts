/** Finding in a conversation: its rows are mostly not in the document, so the browser's own search cannot. Pure. */
import { plainText } from "../composer/history";
import type { PageRow } from "./marks";
import { lineOf, outputText } from "./tools";

/** All text of a row, also what is folded away. */
export function textOfRow(row: PageRow): string {
  switch (row.kind) {
    case "user":
      return plainText(row.block.content);
    case "text":
    case "thinking":
      return row.block.content;
    case "tool":
      return [lineOf(row.tool.use).object, JSON.stringify(row.tool.use.input ?? ""), outputText(row.tool.result?.output)].join("\n");
    case "reads":
      return row.tools.map((tool) => `${lineOf(tool.use).object}\n${outputText(tool.result?.output)}`).join("\n");
    case "plan":
      return row.steps.map((step) => step.text).join("\n");
    case "subagent":
      return [row.block.name, JSON.stringify(row.block.input ?? ""), outputText(row.block.output)].join("\n");
    case "system":
    case "error":
      return row.block.message;
    case "mark": {
      const { value } = row.mark;
      return value.is === "approval" ? `${value.approval.title}\n${JSON.stringify(value.approval.detail ?? "")}` : value.is === "ended" ? (value.message ?? "") : "";
    }
  }
}

/** The rows that contain a text, in order, whatever the case. */
export function matchingRows(rows: readonly PageRow[], query: string): number[] {
  const wanted = query.trim().toLowerCase();
  if (!wanted) return [];
  return rows.flatMap((row, at) => (textOfRow(row).toLowerCase().includes(wanted) ? [at] : []));
}
