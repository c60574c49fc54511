import type { IconName } from "./IconSprite";

type Size = "m" | "s" | "xs";

/** A drawing beside words; it says nothing by itself. */
export function Icon({ name, size = "m", className = "" }: { name: IconName; size?: Size; className?: string }) {
  return (
    <svg className={`i ${size === "m" ? "" : size} ${className}`} aria-hidden="true">
      <use href={`#i-${name}`} />
    </svg>
  );
}
