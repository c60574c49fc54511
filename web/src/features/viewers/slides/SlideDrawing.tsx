import { memo, type CSSProperties } from "react";
import { ChartDrawing } from "../charts/ChartDrawing";
import type { Deck, Slide } from "./deck";
import type { Paragraph } from "./text";
import type { Form, Shape } from "./shapes";
import { ConnectorDrawing } from "./ConnectorDrawing";
import { SlidePicture } from "./SlidePicture";

type Props = { className: string; deck: Deck; slide: Slide; isSmall?: boolean };

/** A slide at any width: its lengths are parts of that width. All of it is text and pictures; nothing of it runs. */
export const SlideDrawing = memo(function SlideDrawing({ className, deck, slide, isSmall }: Props) {
  return (
    <div className={`drawn ${className}`} aria-hidden={isSmall} style={{ aspectRatio: String(deck.ratio), background: slide.ground ?? undefined, "--ratio": deck.ratio } as CSSProperties}>
      {slide.shapes.map((shape, at) => <Drawn key={at} deck={deck} shape={shape} isSmall={isSmall} />)}
    </div>
  );
});

function Drawn({ deck, shape, isSmall }: { deck: Deck; shape: Shape; isSmall?: boolean }) {
  const place: CSSProperties = {
    left: `${shape.x * 100}%`, top: `${shape.y * 100}%`, width: `${shape.w * 100}%`, height: `${shape.h * 100}%`,
    transform: shape.turn ? `rotate(${shape.turn}deg)` : undefined,
  };
  const pt = (points: number) => `${(points / deck.widthPt) * 100}cqw`;
  switch (shape.kind) {
    case "picture":
      return <span className="shape" style={place}><SlidePicture deck={deck} path={shape.path} alt={shape.alt} /></span>;
    case "line":
      return <ConnectorDrawing deck={deck} shape={shape} />;
    case "table":
      return <TableBox shape={shape} place={place} pt={pt} />;
    case "chart":
      return <span className="shape" style={place}><ChartDrawing chart={shape.chart} width={shape.w * deck.widthPt} height={(shape.h * deck.widthPt) / deck.ratio} ink={shape.ink} isSmall={isSmall} /></span>;
    case "other":
      return <span className="shape not-drawn" style={{ ...place, fontSize: pt(16) }}>{shape.what}: not drawn here</span>;
    case "text":
      return (
        <span className="shape" style={place}>
          {(shape.look.fill || shape.look.line) && <i className="geo" style={geometry(shape.look, pt)} />}
          <span className="txt" style={{ inset: shape.hasOwnRoom ? undefined : INSIDE[shape.look.form], justifyContent: shape.anchor, padding: shape.insets.map(pt).join(" ") }}>
            <Paragraphs of={shape.paragraphs} pt={pt} />
          </span>
        </span>
      );
  }
}

const CUTS: Partial<Record<Form, string>> = {
  triangle: "polygon(50% 0, 100% 100%, 0 100%)",
  diamond: "polygon(50% 0, 100% 50%, 50% 100%, 0 50%)",
  chevron: "polygon(0 0, 75% 0, 100% 50%, 75% 100%, 0 100%, 25% 50%)",
  arrow: "polygon(0 0, 75% 0, 100% 50%, 75% 100%, 0 100%)",
  hexagon: "polygon(25% 0, 75% 0, 100% 50%, 75% 100%, 25% 100%, 0 50%)",
};

/** Where the text of a form may stand: above, right, below, left. */
const INSIDE: Partial<Record<Form, string>> = { ellipse: "14.6%", diamond: "25%", triangle: "50% 25% 0", hexagon: "12%", chevron: "0 25%", arrow: "0 12% 0 0" };

type Points = (points: number) => string;

function geometry(look: Extract<Shape, { kind: "text" }>["look"], pt: Points): CSSProperties {
  return {
    background: look.fill ?? undefined,
    border: look.line ? `max(1px, ${pt(look.lineWidth)}) solid ${look.line}` : undefined,
    borderRadius: look.form === "ellipse" ? "50%" : look.form === "round" ? pt(10) : undefined,
    clipPath: CUTS[look.form],
  };
}

function Paragraphs({ of: paragraphs, pt }: { of: readonly Paragraph[]; pt: Points }) {
  return paragraphs.map((one, at) => (
    <span key={at} className="para" dir="auto" style={{ textAlign: one.align, paddingInlineStart: one.indent ? pt(one.indent) : undefined, fontSize: pt(one.size) }}>
      {one.bullet !== null && <span className="bul" style={{ marginInlineStart: one.hang ? `-${pt(one.hang)}` : undefined, minWidth: one.hang ? pt(one.hang) : "1em" }}>{one.bullet}</span>}
      {one.runs.length === 0 ? "\u00a0" : one.runs.map((run, n) => (
        <span key={n} style={{ fontSize: pt(run.size), fontWeight: run.bold ? 700 : undefined, fontStyle: run.italic ? "italic" : undefined, textDecoration: run.underline ? "underline" : undefined, color: run.colour ?? undefined }}>{run.text}</span>
      ))}
    </span>
  ));
}

function TableBox({ shape, place, pt }: { shape: Extract<Shape, { kind: "table" }>; place: CSSProperties; pt: Points }) {
  return (
    <span className="shape tbl" style={place}>
      {shape.rows.map((row, at) => (
        <span key={at} className="tr" style={{ minHeight: `${row.height * 100}%`, gridTemplateColumns: shape.columns.map((part) => `${part * 100}%`).join(" ") }}>
          {row.cells.map((cell, n) => (
            <span key={n} className="td" style={{ background: cell.fill ?? undefined, gridColumn: `span ${cell.span}`, padding: `${pt(3.6)} ${pt(7.2)}`, borderColor: cell.edge ?? undefined }}>
              <Paragraphs of={cell.paragraphs} pt={pt} />
            </span>
          ))}
        </span>
      ))}
    </span>
  );
}
