import { useEffect, useRef } from "react";
import { focusIsLost, toComposer } from "~/lib/focus";

/** Gives the focus to the message when a pane closes that had it. */
export function useFocusAfterPanel(beside: boolean) {
  const before = useRef(false);
  // An effect, because only after the pane is gone can one see whether the focus went with it.
  useEffect(() => {
    if (!beside && before.current && focusIsLost()) toComposer();
    before.current = beside;
  }, [beside]);
}
