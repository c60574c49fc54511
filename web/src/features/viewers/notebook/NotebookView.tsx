import { useMemo } from "react";
import { pieces } from "~/lib/ansi";
import { CodeBox } from "~/ui/CodeBox";
import { Empty, Failed } from "~/ui/Notice";
import { Pieces } from "~/ui/Pieces";
import { RichMarkdown } from "../markdown/MarkdownView";
import type { Near } from "../markdown/Picture";
import "./notebook.css";
import { readNotebook, type Cell, type Notebook, type Output } from "./read";

type Props = { text: string; path: string; near?: Near };

/** A notebook with its saved outputs. Nothing in it is run. */
export default function NotebookView({ text, path, near }: Props) {
  const read = useMemo((): { book: Notebook } | { why: string } => {
    try {
      return { book: readNotebook(text) };
    } catch (error) {
      return { why: error instanceof Error ? error.message : String(error) };
    }
  }, [text]);
  if ("why" in read) return <Failed title="The notebook could not be read">{read.why}</Failed>;
  const { language, cells } = read.book;
  if (cells.length === 0) return <Empty icon="doc">The notebook is empty.</Empty>;
  return (
    <div className="nb-view say" tabIndex={0} role="region" aria-label="Notebook">
      {cells.map((cell, at) => <CellView key={at} cell={cell} language={language} path={path} near={near} />)}
    </div>
  );
}

function CellView({ cell, language, path, near }: { cell: Cell; language: string; path: string; near?: Near }) {
  if (cell.kind === "markdown") return <div className="nb-cell md-doc"><RichMarkdown text={cell.source} path={path} near={near} /></div>;
  return (
    <div className="nb-cell">
      <span className="nb-no num" aria-hidden="true">{cell.kind === "code" ? `[${cell.count ?? " "}]` : ""}</span>
      <CodeBox lang={cell.kind === "code" ? language : ""} text={cell.source} open={false} />
      {cell.outputs.map((output, at) => <OutputView key={at} output={output} path={path} near={near} />)}
    </div>
  );
}

function OutputView({ output, path, near }: { output: Output; path: string; near?: Near }) {
  switch (output.kind) {
    case "image":
      return <img className="nb-image" src={output.src} alt={output.alt.slice(0, 200)} />;
    case "html":
      return <div className="nb-rich md-doc"><RichMarkdown text={flat(output.html)} path={path} near={near} /></div>;
    case "markdown":
      return <div className="nb-rich md-doc"><RichMarkdown text={output.text} path={path} near={near} /></div>;
    case "text":
      return <pre className={`out nb-out ${output.isError ? "bad" : ""}`} tabIndex={0} role="group" aria-label={output.isError ? "Error output" : "Output"}><Pieces pieces={pieces(output.text)} /></pre>;
  }
}

/** HTML without empty lines and indents, which Markdown would take for the end of a block and for code. Styles are left out with all they hold. */
const flat = (html: string): string => html.replace(/<(style|script)\b[\s\S]*?<\/\1\s*>/gi, "").replace(/^\s+/gm, "").replace(/\n+/g, "\n");
