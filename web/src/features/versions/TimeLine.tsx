import { useLayoutEffect, useRef, useState, type ReactNode } from "react";

type Line = { key: string; d: string; look: "" | "live" };

/** The line that runs through the nodes inside it: straight to the next version, a curve to a fork. */
export function TimeLine({ children }: { children: ReactNode }) {
  const box = useRef<HTMLDivElement>(null);
  const [lines, setLines] = useState<readonly Line[]>([]);
  useLayoutEffect(() => {
    const element = box.current;
    if (!element) return;
    const draw = () => setLines((old) => (JSON.stringify(old) === JSON.stringify(drawn(element)) ? old : drawn(element)));
    draw();
    const watch = new ResizeObserver(draw);
    watch.observe(element);
    for (const node of element.querySelectorAll(".vn")) watch.observe(node);
    return () => watch.disconnect();
  });
  return (
    <div className="vt" ref={box}>
      <svg className="lines" aria-hidden="true">
        {lines.map((line) => <path key={line.key} d={line.d} className={line.look} />)}
      </svg>
      {children}
    </div>
  );
}

function drawn(box: HTMLElement): Line[] {
  const top = box.getBoundingClientRect().top;
  const middle = (ring: Element) => {
    const place = ring.getBoundingClientRect();
    return place.top + place.height / 2 - top;
  };
  const rings = [...box.querySelectorAll(".vn .rg")];
  const stems = rings.filter((ring) => !ring.classList.contains("alt"));
  const lines: Line[] = stems.slice(1).map((ring, at) => {
    const above = stems[at] as Element;
    const look = above.classList.contains("live") ? "live" : "";
    return { key: `s${at}`, d: `M18 ${middle(above) + 12}V${middle(ring) - 12}`, look };
  });
  // A fork leaves the line at its version, which stands below it.
  rings.forEach((ring, at) => {
    if (!ring.classList.contains("alt")) return;
    const stem = rings.slice(at + 1).find((next) => !next.classList.contains("alt"));
    if (!stem) return;
    const [y, from] = [middle(ring), middle(stem)];
    lines.push({ key: `f${at}`, d: `M18 ${from - 12}V${y + 10}Q18 ${y} 28 ${y}`, look: "" });
  });
  return lines;
}
