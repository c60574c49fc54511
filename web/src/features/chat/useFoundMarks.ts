import { useEffect } from "react";

const NAME = "found";

/** Marks a text wherever it stands in the conversation that is drawn, without changing the document. */
export function useFoundMarks(query: string) {
  // An effect, because ranges are of the document. It runs after every drawing: rows come and go as the list scrolls.
  useEffect(() => {
    const highlights = CSS.highlights as HighlightRegistry | undefined;
    if (!highlights) return undefined;
    const mark = () => {
      const ranges = rangesOf(document.querySelector("[role=log]"), query.trim().toLowerCase());
      if (ranges.length) highlights.set(NAME, new Highlight(...ranges));
      else highlights.delete(NAME);
    };
    mark();
    const log = document.querySelector("[role=log]");
    const changes = new MutationObserver(mark);
    if (log) changes.observe(log, { childList: true, subtree: true });
    return () => {
      changes.disconnect();
      highlights.delete(NAME);
    };
  }, [query]);
}

function rangesOf(root: Element | null, wanted: string): Range[] {
  if (!root || !wanted) return [];
  const ranges: Range[] = [];
  const texts = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
  for (let node = texts.nextNode(); node; node = texts.nextNode()) {
    const text = node.textContent?.toLowerCase() ?? "";
    for (let at = text.indexOf(wanted); at >= 0; at = text.indexOf(wanted, at + wanted.length)) {
      const range = new Range();
      range.setStart(node, at);
      range.setEnd(node, at + wanted.length);
      ranges.push(range);
    }
  }
  return ranges;
}
