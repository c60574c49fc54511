import type { ReactNode } from "react";
import { Icon } from "~/ui/Icon";
import type { IconName } from "~/ui/IconSprite";

/** How a node on the trail looks. */
export type NodeLook = "" | "rg0" | "run" | "bad" | "warn" | "acc";

type Props = { look?: NodeLook; icon?: IconName; node?: ReactNode; className?: string; children: ReactNode };

/** A step: its node on the trail, and what it says. */
export function Step({ look = "", icon, node, className = "", children }: Props) {
  return (
    <div className={`step ${className}`}>
      {node ?? (icon && (
        <span className={`node ${look}`}>
          <Icon name={icon} />
        </span>
      ))}
      {children}
    </div>
  );
}
