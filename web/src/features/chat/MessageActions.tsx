import type { ReactNode } from "react";
import { when } from "~/lib/format";
import { CopyButton } from "~/ui/CopyButton";

type Props = { at: string; text: string; label: string; children?: ReactNode };

/** When a message was sent, and what can be done with it. In the document always, in view when it is pointed at or focused. */
export function MessageActions({ at, text, label, children }: Props) {
  const time = new Date(at);
  return (
    <div className="acts-line">
      <time className="num muted" dateTime={at} title={time.toLocaleString("en-GB")}>{when(at)}</time>
      {children}
      {text && <CopyButton text={text} label="Copy" subject={label} />}
    </div>
  );
}
