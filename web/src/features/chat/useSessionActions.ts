import { useEffect } from "react";
import { usePage, type SessionActions } from "../shell/page";

/** Offers the session in view to keys and the palette, which live outside of it. */
export function useSessionActions(actions: SessionActions) {
  const page = usePage();
  // An effect, because listeners of the document read it: whoever leaves must not take the next session's actions along.
  useEffect(() => {
    page.session.current = actions;
    return () => {
      if (page.session.current === actions) page.session.current = null;
    };
  });
}
