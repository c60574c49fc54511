import { useEffect } from "react";

let name = "";
/** Requests that wait for a person, in the session in view and in all others. */
const waiting = { here: 0, elsewhere: 0 };

/** The tab's title: first what needs the person, then where they are. */
export function titleOf(shown: string, n: number): string {
  const page = shown ? `${shown} · Warren` : "Warren";
  return n > 0 ? `(${n}) Needs you · ${page}` : page;
}

function show() {
  document.title = titleOf(name, waiting.here + waiting.elsewhere);
}

/** Names the page in the tab's title, with how many requests wait here. An effect: the title is the document's. */
export function usePageTitle(shown: string, n = 0) {
  useEffect(() => {
    [name, waiting.here] = [shown, n];
    show();
    return () => {
      [name, waiting.here] = ["", 0];
      show();
    };
  }, [shown, n]);
}

/** Counts the requests of sessions that are not in view. */
export function setWaitingElsewhere(n: number) {
  waiting.elsewhere = n;
  show();
}
