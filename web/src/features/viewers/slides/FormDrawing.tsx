import { useId } from "react";
import type { Deck } from "./deck";
import { outlineOf } from "./forms";
import type { Gradient } from "./paint";
import type { Look } from "./shapes";
import { SlidePicture } from "./SlidePicture";

/** The outline of a shape with its fill and its edge, in points. */
export function FormDrawing({ look, width, height, deck }: { look: Look; width: number; height: number; deck: Deck }) {
  const id = useId();
  if (look.picture) return <SlidePicture deck={deck} path={look.picture} alt="" />;
  if (!look.fill && !look.gradient && !look.line) return null;
  const { form } = look;
  const [w, h] = [Math.max(0.1, width), Math.max(0.1, height)];
  const fill = look.gradient ? `url(#${id})` : (look.fill ?? "none");
  const stroke = Math.max(0.5, look.lineWidth);
  const edge = { stroke: look.line ?? "none", strokeWidth: stroke, strokeDasharray: look.isDashed ? `${stroke * 3} ${stroke * 2}` : undefined, strokeLinejoin: "round" as const, vectorEffect: form.own ? ("non-scaling-stroke" as const) : undefined };
  const flip = form.flipH || form.flipV ? `translate(${form.flipH ? w : 0} ${form.flipV ? h : 0}) scale(${form.flipH ? -1 : 1} ${form.flipV ? -1 : 1})` : undefined;
  const outline = outlineOf(form, w, h);
  return (
    <svg className="geo" viewBox={`0 0 ${w} ${h}`} preserveAspectRatio="none" aria-hidden="true">
      {look.gradient && <defs><Stops id={id} of={look.gradient} /></defs>}
      <g transform={flip}>
        {form.own ? form.own.map((path, at) => <path key={at} d={path.d} transform={`scale(${w / path.w} ${h / path.h})`} fill={path.isFilled ? fill : "none"} fillRule="evenodd" {...edge} stroke={path.isStroked ? edge.stroke : "none"} />) : <path d={outline.d} fill={outline.isFilled ? fill : "none"} fillRule={/^(?:donut|noSmoking|frame)$/.test(form.name) ? "evenodd" : "nonzero"} {...edge} />}
      </g>
    </svg>
  );
}

function Stops({ id, of: { angle, isRadial, stops } }: { id: string; of: Gradient }) {
  const list = stops.map(({ at, colour }, n) => <stop key={n} offset={at} stopColor={colour} />);
  return isRadial ? <radialGradient id={id}>{list}</radialGradient> : <linearGradient id={id} gradientTransform={`rotate(${angle} 0.5 0.5)`}>{list}</linearGradient>;
}
