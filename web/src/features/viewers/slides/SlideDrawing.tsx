import { memo, type CSSProperties } from "react";
import { ChartDrawing } from "../charts/ChartDrawing";
import type { Deck, Slide } from "./deck";
import type { Paragraph } from "./text";
import type { Shape } from "./shapes";
import { ConnectorDrawing } from "./ConnectorDrawing";
import { FormDrawing } from "./FormDrawing";
import { SlidePicture } from "./SlidePicture";

type Props = { className: string; deck: Deck; slide: Slide; isSmall?: boolean };

/** A slide at any width: its lengths are parts of that width. All of it is text and pictures; nothing of it runs. */
export const SlideDrawing = memo(function SlideDrawing({ className, deck, slide, isSmall }: Props) {
  return (
    <div className={`drawn ${className}`} aria-hidden={isSmall} style={{ aspectRatio: String(deck.ratio), background: slide.ground ?? undefined, "--ratio": deck.ratio } as CSSProperties}>
      {slide.groundPicture && <span className="shape" style={{ inset: 0 }}><SlidePicture deck={deck} path={slide.groundPicture} alt="" /></span>}
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
      return <span className="shape cropped" style={place}><SlidePicture deck={deck} path={shape.path} alt={shape.alt} crop={shape.crop} flipH={shape.flipH} flipV={shape.flipV} /></span>;
    case "line":
      return <ConnectorDrawing deck={deck} shape={shape} />;
    case "table":
      return <TableBox shape={shape} place={place} pt={pt} height={(shape.h * deck.widthPt) / deck.ratio} />;
    case "chart":
      return <span className="shape" style={place}><ChartDrawing chart={shape.chart} width={shape.w * deck.widthPt} height={(shape.h * deck.widthPt) / deck.ratio} ink={shape.ink} isSmall={isSmall} /></span>;
    case "other":
      return <span className="shape not-drawn" style={{ ...place, fontSize: pt(16) }}>{shape.what}: not drawn here</span>;
    case "text":
      return (
        <span className="shape" style={place}>
          <FormDrawing look={shape.look} width={shape.w * deck.widthPt} height={(shape.h * deck.widthPt) / deck.ratio} deck={deck} />
          <span className={`txt ${shape.wraps ? "" : "no-wrap"} ${shape.upright === "no" ? "" : `runs-${shape.upright}`}`} style={{ inset: shape.hasOwnRoom || shape.look.form.own ? undefined : INSIDE[shape.look.form.name], justifyContent: shape.anchor, padding: shape.insets.map(pt).join(" ") }}>
            <Paragraphs of={shape.paragraphs} pt={pt} />
          </span>
        </span>
      );
  }
}

/** Where the text of a form may stand: above, right, below, left. */
const INSIDE: Record<string, string> = { ellipse: "14.6%", flowChartConnector: "14.6%", diamond: "25%", flowChartDecision: "25%", triangle: "50% 25% 0", rtTriangle: "58% 42% 8% 8%", hexagon: "12%", chevron: "0 25%", homePlate: "0 12% 0 0", rightArrow: "25% 12% 25% 0", leftArrow: "25% 0 25% 12%", can: "25% 0 0", cube: "25% 25% 0 0", plus: "25%", star5: "38% 31% 28%", cloud: "15%", heart: "25% 16% 33%" };

type Points = (points: number) => string;

function Paragraphs({ of: paragraphs, pt }: { of: readonly Paragraph[]; pt: Points }) {
  return paragraphs.map((one, at) => (
    <span key={at} className="para" dir={one.isRtl ? "rtl" : "auto"} style={{ textAlign: one.isRtl && one.align === "left" ? "start" : one.align, marginTop: one.before && at > 0 ? pt(one.before) : undefined, marginBottom: one.after ? pt(one.after) : undefined, lineHeight: typeof one.line === "number" ? one.line : pt(parseFloat(one.line)), paddingInlineStart: one.indent ? pt(one.indent) : undefined, fontSize: pt(one.size) }}>
      {one.bullet !== null && <span className="bul" style={{ marginInlineStart: one.hang ? `-${pt(one.hang)}` : undefined, minWidth: one.hang ? pt(one.hang) : "1em" }}>{one.bullet}</span>}
      {one.runs.length === 0 ? "\u00a0" : one.runs.map((run, n) => (
        <span key={n} style={{ fontSize: pt(run.raised === "no" ? run.size : run.size * 0.66), fontWeight: run.bold ? 700 : undefined, fontStyle: run.italic ? "italic" : undefined, textDecoration: [run.underline && "underline", run.strike && "line-through"].filter(Boolean).join(" ") || undefined, verticalAlign: run.raised === "no" ? undefined : run.raised, color: run.colour ?? undefined }}>{run.text}</span>
      ))}
    </span>
  ));
}

/** Rows grow with their text: the height of a table in the file is the least it has. */
function TableBox({ shape, place, pt, height }: { shape: Extract<Shape, { kind: "table" }>; place: CSSProperties; pt: Points; height: number }) {
  return (
    <span className="shape tbl" style={{ ...place, height: undefined, gridTemplateColumns: shape.columns.map((part) => `${part * 100}%`).join(" "), gridTemplateRows: shape.rows.map((row) => `minmax(${pt(row.height * height)}, auto)`).join(" ") }}>
      {shape.rows.map((row, at) => row.cells.map((cell) => {
        const [borderTop, borderRight, borderBottom, borderLeft] = cell.borders.map((border) => border ?? (cell.edge ? `1px solid ${cell.edge}` : undefined));
        return (
          <span key={`${at},${cell.column}`} className="td" style={{ background: cell.fill ?? undefined, gridColumn: `${cell.column + 1} / span ${Math.max(1, cell.span)}`, gridRow: `${at + 1} / span ${Math.max(1, cell.rows)}`, padding: `${pt(3.6)} ${pt(7.2)}`, borderTop, borderRight, borderBottom, borderLeft, justifyContent: cell.anchor }}>
            <Paragraphs of={cell.paragraphs} pt={pt} />
          </span>
        );
      }))}
    </span>
  );
}
