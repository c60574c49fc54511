import ReactMarkdown, { type Components } from "react-markdown";
import { useMemo, useRef } from "react";
import rehypeKatex from "rehype-katex";
import rehypeRaw from "rehype-raw";
import rehypeSanitize from "rehype-sanitize";
import remarkGfm from "remark-gfm";
import remarkMath from "remark-math";
import { CodeBox } from "~/ui/CodeBox";
import { SCHEMA } from "./allowed";
import { displayedMath } from "./displayedMath";
import { Diagram } from "./Diagram";
import { Picture, type Near } from "./Picture";
import "katex/dist/katex.min.css";
import "./markdown.css";

type Props = { text: string; path: string; /** Reads a file beside this one. */ near?: Near };

/** A document in Markdown with images, math, diagrams, footnotes and safe HTML. Its elements are React's: nothing in it runs. */
export default function MarkdownView({ text, path, near }: Props) {
  return (
    <div className="prose-view say md-doc" tabIndex={0} role="region" aria-label="Document">
      <RichMarkdown text={text} path={path} near={near} />
    </div>
  );
}

export function RichMarkdown({ text, path, near }: Props) {
  const box = useRef<HTMLDivElement>(null);
  const components = useMemo((): Components => ({
    a: ({ href = "", children }) => {
      if (!href.startsWith("#")) return <a href={href} target="_blank" rel="noopener noreferrer nofollow">{children}</a>;
      // Inside the document; the page's own address stays.
      const go = () => {
        const id = decodeURIComponent(href.slice(1));
        box.current?.querySelector(`[id="${CSS.escape(id)}"], [id="user-content-${CSS.escape(id)}"]`)?.scrollIntoView({ block: "center" });
      };
      return <a href={href} onClick={(event) => { event.preventDefault(); go(); }}>{children}</a>;
    },
    img: ({ src, alt, title }) => <Picture src={typeof src === "string" ? src : ""} alt={alt ?? ""} title={title} path={path} near={near} />,
    pre: ({ children }) => <>{children}</>,
    code: ({ className, children }) => {
      const language = /language-([^\s]+)/.exec(className ?? "")?.[1] ?? "";
      const code = String(children ?? "");
      // A block ends with a line end; inline code has none.
      if (!language && !code.endsWith("\n")) return <code>{children}</code>;
      const source = code.replace(/\n$/, "");
      return language === "mermaid" ? <Diagram source={source} /> : <CodeBox lang={language} text={source} open={false} />;
    },
    table: ({ children }) => <div className="md-table" role="region" aria-label="Table" tabIndex={0}><table>{children}</table></div>,
    input: ({ checked }) => <input type="checkbox" checked={checked ?? false} readOnly disabled aria-label={checked ? "Done" : "Open"} />,
  }), [path, near]);
  return (
    <div ref={box}>
      <ReactMarkdown
        remarkPlugins={[remarkGfm, remarkMath, displayedMath]}
        remarkRehypeOptions={{ clobberPrefix: "" }}
        rehypePlugins={[rehypeRaw, [rehypeSanitize, SCHEMA], [rehypeKatex, { throwOnError: false, strict: "ignore", trust: false }]]}
        components={components}
      >
        {text}
      </ReactMarkdown>
    </div>
  );
}
