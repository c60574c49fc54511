import type { ReactNode } from "react";
import { Icon } from "./Icon";
import type { IconName } from "./IconSprite";

type Props = { icon?: IconName; children: ReactNode; action?: ReactNode };

/** Nothing is here, and why, and what would change that. */
export function Empty({ icon = "file", children, action }: Props) {
  return (
    <div className="empty-note">
      <Icon name={icon} />
      <p>{children}</p>
      {action}
    </div>
  );
}

/** Something failed: what happened, what is kept, what to do. */
export function Failed({ title, children, action }: { title: string; children?: ReactNode; action?: ReactNode }) {
  return (
    <div className="errc m-3" role="alert">
      <b>{title}</b>
      {children && <p>{children}</p>}
      {action}
    </div>
  );
}

/** Rows of the height that will come; shown only after 150 ms. */
export function Skeleton({ rows = 4, height = 26 }: { rows?: number; height?: number }) {
  return (
    <div className="skel" role="status" aria-label="Loading">
      {Array.from({ length: rows }, (_, row) => (
        <i key={row} style={{ height: height - 10, width: `${88 - ((row * 17) % 40)}%`, margin: "5px 0" }} />
      ))}
    </div>
  );
}
