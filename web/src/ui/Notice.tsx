import { isPassing } from "@warren/react";
import { useState, type ReactNode } from "react";
import { Button } from "./Button";
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

type UnreadProps = { title: string; error: unknown; onAgain: () => unknown; more?: ReactNode; children?: ReactNode };

/** Something could not be read: why, and how to try again. What fails only while the server is away is also tried by itself. */
export function Unread({ title, error, onAgain, more, children }: UnreadProps) {
  return (
    <Failed title={title} action={<span className="row"><TryAgain onAgain={onAgain} />{more}</span>}>
      {error instanceof Error ? error.message : null} {isPassing(error) ? "It loads as soon as the server answers." : null} {children}
    </Failed>
  );
}

/** What is shown was read earlier, or is not all: the newest could not be read. */
export function Behind({ error, onAgain }: { error: unknown; onAgain: () => unknown }) {
  return (
    <div className="pane-failed" role="status">
      <Icon name="alert" size="s" />
      <span className="grow">The newest could not be read. {error instanceof Error ? error.message : null}</span>
      <TryAgain onAgain={onAgain} />
    </div>
  );
}

/** Says that it tries while it tries, so that a second failure does not look like a dead button. */
export function TryAgain({ onAgain }: { onAgain: () => unknown }) {
  const [isTrying, setTrying] = useState(false);
  const again = async () => {
    setTrying(true);
    try {
      await onAgain();
    } finally {
      setTrying(false);
    }
  };
  return <Button look="line" aria-disabled={isTrying} onClick={() => void (isTrying || again())}>{isTrying ? "Trying…" : "Try again"}</Button>;
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
