import { useId } from "react";
import type { Deck } from "./deck";
import type { Shape } from "./shapes";

/** A connector, drawn over the whole slide: its own frame may have no height, and browsers draw nothing in such a frame. */
export function ConnectorDrawing({ deck, shape }: { deck: Deck; shape: Extract<Shape, { kind: "line" }> }) {
  const id = useId();
  const [width, height] = [deck.widthPt, deck.widthPt / deck.ratio];
  const points = shape.points.map(([x, y]) => `${(shape.x + x * shape.w) * width},${(shape.y + y * shape.h) * height}`).join(" ");
  const middle = `${(shape.x + shape.w / 2) * width} ${(shape.y + shape.h / 2) * height}`;
  const stroke = Math.max(0.5, shape.width);
  return (
    <svg className="shape connector" viewBox={`0 0 ${width} ${height}`} aria-hidden="true">
      <defs>
        <marker id={id} viewBox="0 0 10 10" refX="9" refY="5" markerWidth="5" markerHeight="5" orient="auto-start-reverse">
          <path d="M0 0 10 5 0 10z" fill={shape.colour} />
        </marker>
      </defs>
      <polyline points={points} fill="none" stroke={shape.colour} strokeWidth={stroke} strokeDasharray={shape.isDashed ? `${stroke * 3} ${stroke * 2}` : undefined} transform={shape.turn ? `rotate(${shape.turn} ${middle})` : undefined} markerStart={shape.startsWithArrow ? `url(#${id})` : undefined} markerEnd={shape.endsWithArrow ? `url(#${id})` : undefined} />
    </svg>
  );
}
