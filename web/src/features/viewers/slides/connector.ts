// Lines and connectors of a slide: their course inside their frame, and what stands at their ends.
import { all } from "../zip";

type Point = readonly [x: number, y: number];
/** Points are parts of the frame, 0 to 1, which may have no width or no height. */
export type Connector = { points: readonly Point[]; colour: string; width: number; startsWithArrow: boolean; endsWithArrow: boolean; isDashed: boolean };

export function connectorOf(node: Element): Pick<Connector, "points" | "startsWithArrow" | "endsWithArrow" | "isDashed"> {
  const frame = all(node, "xfrm")[0];
  const isSet = (name: string) => ["1", "true"].includes(frame?.getAttribute(name) ?? "");
  const [flipH, flipV] = [isSet("flipH"), isSet("flipV")];
  const edge = all(node, "ln")[0];
  const hasEnd = (name: string) => edge !== undefined && (all(edge, name)[0]?.getAttribute("type") ?? "none") !== "none";
  const dash = edge && all(edge, "prstDash")[0]?.getAttribute("val");
  return {
    points: courseOf(all(node, "prstGeom")[0]).map(([x, y]): Point => [flipH ? 1 - x : x, flipV ? 1 - y : y]),
    startsWithArrow: hasEnd("headEnd"),
    endsWithArrow: hasEnd("tailEnd"),
    isDashed: dash !== undefined && dash !== null && dash !== "solid",
  };
}

/** Straight, or with bends where its form says. Curves are drawn as bends. */
function courseOf(form: Element | undefined): Point[] {
  const kind = form?.getAttribute("prst") ?? "line";
  const adjust = (name: string) => {
    const guide = form && all(form, "gd").find((one) => one.getAttribute("name") === name);
    const value = Number(/val (-?\d+)/.exec(guide?.getAttribute("fmla") ?? "")?.[1] ?? 50_000);
    return value / 100_000;
  };
  switch (/^(?:bent|curved)Connector(\d)$/.exec(kind)?.[1]) {
    case "2":
      return [[0, 0], [1, 0], [1, 1]];
    case "3": {
      const x = adjust("adj1");
      return [[0, 0], [x, 0], [x, 1], [1, 1]];
    }
    case "4": {
      const [x, y] = [adjust("adj1"), adjust("adj2")];
      return [[0, 0], [x, 0], [x, y], [1, y], [1, 1]];
    }
    case "5": {
      const [x, y, z] = [adjust("adj1"), adjust("adj2"), adjust("adj3")];
      return [[0, 0], [x, 0], [x, y], [z, y], [z, 1], [1, 1]];
    }
    default:
      return [[0, 0], [1, 1]];
  }
}
