// Fills that are more than one colour.
import { all } from "../zip";
import { colourOf, type Theme } from "./colour";
import { child } from "./text";

export type Gradient = { /** Clockwise from left to right, in degrees. */ angle: number; isRadial: boolean; stops: readonly { at: number; colour: string }[] };

const MAX_STOPS = 20;

export function gradientOf(fill: Element | undefined, theme: Theme): Gradient | null {
  if (fill?.localName !== "gradFill") return null;
  const stops = all(fill, "gs").slice(0, MAX_STOPS).flatMap((stop) => {
    const colour = colourOf(stop, theme);
    return colour ? [{ at: Math.max(0, Math.min(1, Number(stop.getAttribute("pos") ?? 0) / 100_000)), colour }] : [];
  }).sort((a, b) => a.at - b.at);
  if (stops.length < 2) return null;
  return { angle: Number(child(fill, "lin")?.getAttribute("ang") ?? 0) / 60_000 || 0, isRadial: child(fill, "path") !== undefined, stops };
}

/** As a style sheet writes it: there, 0 degrees goes up. */
export const cssGradient = ({ angle, isRadial, stops }: Gradient): string => {
  const list = stops.map(({ at, colour }) => `${colour} ${Math.round(at * 100)}%`).join(", ");
  return isRadial ? `radial-gradient(${list})` : `linear-gradient(${angle + 90}deg, ${list})`;
};
