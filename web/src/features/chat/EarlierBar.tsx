import type { EarlierStatus } from "@warren/react";
import type { RefObject } from "react";
import { focusIsLost } from "~/lib/focus";
import { Button } from "~/ui/Button";

type Props = { earlier: EarlierStatus; onLoad: () => Promise<void>; scroller: RefObject<HTMLElement | null> };

/** What is before the first row: nothing, more to load, or why it could not be loaded. */
export function EarlierBar({ earlier, onLoad, scroller }: Props) {
  // The button goes with the last part; whoever pressed it stays in the conversation.
  const load = () => onLoad().then(() => requestAnimationFrame(() => focusIsLost() && scroller.current?.focus()));
  if (earlier.state === "none") return null;
  const loading = earlier.state === "loading";
  const failed = earlier.state === "failed";
  return (
    <div className="earlier" role="status">
      {loading && <span className="spin" aria-hidden="true" />}
      {failed && <span className="bad">Earlier messages cannot be loaded: {earlier.error instanceof Error ? earlier.error.message : String(earlier.error)}</span>}
      <Button look={failed ? "line" : "ghost"} aria-disabled={loading} onClick={() => !loading && void load()}>
        {loading ? "Loading earlier messages…" : failed ? "Retry" : "Load earlier messages"}
      </Button>
    </div>
  );
}
