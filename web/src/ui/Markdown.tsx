import { memo, useMemo, useRef, type ReactNode } from "react";
import { chunksOf, parse, type Inline, type Md } from "~/lib/markdown";
import { CodeBox } from "./CodeBox";

/** A text in markdown. As it grows only its last part is read again. */
export function Markdown({ text, tail }: { text: string; tail?: ReactNode }) {
  const last = useRef({ text: "", chunks: [] as string[] });
  const chunks = useMemo(() => {
    const before = last.current;
    const settled = text.startsWith(before.text) ? before.chunks.slice(0, -1) : [];
    const kept = settled.reduce((n, chunk) => n + chunk.length, 0);
    const all = [...settled, ...chunksOf(text.slice(kept))];
    last.current = { text, chunks: all };
    return all;
  }, [text]);
  return chunks.map((chunk, at) => <Chunk key={at} source={chunk} tail={at === chunks.length - 1 ? tail : undefined} />);
}

const Chunk = memo(function Chunk({ source, tail }: { source: string; tail?: ReactNode }) {
  const blocks = useMemo(() => parse(source), [source]);
  return blocks.map((block, at) => <Part key={at} block={block} tail={at === blocks.length - 1 ? tail : undefined} />);
});

function Part({ block, tail }: { block: Md; tail?: ReactNode }): ReactNode {
  switch (block.t) {
    case "p":
      return (
        <p dir="auto">
          <Line parts={block.c} />
          {tail}
        </p>
      );
    case "h": {
      const Heading = `h${Math.min(6, block.level + 2)}` as "h3";
      return (
        <Heading className="md-h" dir="auto">
          <Line parts={block.c} />
        </Heading>
      );
    }
    case "code":
      return <CodeBox {...block} />;
    case "quote":
      return (
        <blockquote dir="auto">
          <Parts blocks={block.c} />
        </blockquote>
      );
    case "list":
      return <List block={block} />;
    case "table":
      return <Table block={block} />;
    case "hr":
      return <hr />;
  }
}

const Parts = ({ blocks }: { blocks: Md[] }) => blocks.map((block, at) => <Part key={at} block={block} />);

function List({ block }: { block: Extract<Md, { t: "list" }> }) {
  const items = block.items.map((item, at) => (
    <li key={at} dir="auto" className={item.task === null ? undefined : "task"}>
      {item.task !== null && <input type="checkbox" checked={item.task} readOnly disabled aria-label={item.task ? "Done" : "Open"} />}
      {item.c.length === 1 && item.c[0]!.t === "p" ? <Line parts={item.c[0]!.c} /> : <Parts blocks={item.c} />}
    </li>
  ));
  return block.start === null ? <ul>{items}</ul> : <ol start={block.start}>{items}</ol>;
}

function Table({ block }: { block: Extract<Md, { t: "table" }> }) {
  const side = (column: number) => block.align[column] ?? "left";
  return (
    <div className="md-table" role="region" aria-label="Table" tabIndex={0}>
      <table>
        <thead>
          <tr>
            {block.head.map((cell, at) => (
              <th key={at} scope="col" dir="auto" className={`to-${side(at)}`}>
                <Line parts={cell} />
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {block.rows.map((row, at) => (
            <tr key={at}>
              {row.map((cell, column) => (
                <td key={column} dir="auto" className={`to-${side(column)}`}>
                  <Line parts={cell} />
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Line({ parts }: { parts: Inline[] }): ReactNode {
  return parts.map((part, at) => {
    switch (part.t) {
      case "text":
        return part.text;
      case "code":
        return <code key={at}>{part.text}</code>;
      case "strong":
        return <strong key={at}><Line parts={part.c} /></strong>;
      case "em":
        return <em key={at}><Line parts={part.c} /></em>;
      case "del":
        return <del key={at}><Line parts={part.c} /></del>;
      case "link":
        return (
          <a key={at} href={part.href} target="_blank" rel="noopener noreferrer nofollow">
            <Line parts={part.c} />
          </a>
        );
      case "br":
        return <br key={at} />;
    }
  });
}
