import type { PDFDocumentProxy } from "pdfjs-dist";
import { useEffect, useMemo, useState } from "react";
import { findAll, type Match } from "./find";

export type Find = {
  words: string;
  count: number;
  /** Position of the current match, from 0. */
  at: number;
  current: Match | null;
  isReading: boolean;
  search: (words: string) => void;
  go: (by: 1 | -1) => void;
  onPage: (page: number) => readonly Match[];
};

const NONE: readonly Match[] = [];

/** Search in all pages. Their texts are read when something is first searched for. */
export function useFind(pdf: PDFDocumentProxy): Find {
  const [words, setWords] = useState("");
  const [at, setAt] = useState(0);
  const [pages, setPages] = useState<readonly (readonly string[])[] | null>(null);
  const isWanted = words !== "";
  useEffect(() => {
    // The texts come from the worker of the open document.
    if (!isWanted || pages !== null) return;
    let isCurrent = true;
    textsOf(pdf).then(
      (read) => isCurrent && setPages(read),
      () => isCurrent && setPages([]), // Closed meanwhile, or damaged: nothing can be found in it.
    );
    return () => {
      isCurrent = false;
    };
  }, [pdf, isWanted, pages]);
  const matches = useMemo(() => (pages ? findAll(pages, words) : NONE), [pages, words]);
  const byPage = useMemo(() => grouped(matches), [matches]);
  return {
    words,
    count: matches.length,
    at,
    current: matches[at] ?? null,
    isReading: isWanted && pages === null,
    search: (next) => {
      setWords(next);
      setAt(0);
    },
    go: (by) => matches.length > 0 && setAt((at + by + matches.length) % matches.length),
    onPage: (page) => byPage.get(page) ?? NONE,
  };
}

async function textsOf(pdf: PDFDocumentProxy): Promise<string[][]> {
  const texts: string[][] = [];
  for (let page = 1; page <= pdf.numPages; page += 1) {
    const { items } = await (await pdf.getPage(page)).getTextContent();
    texts.push(items.flatMap((item) => ("str" in item ? [item.str] : [])));
  }
  return texts;
}

function grouped(matches: readonly Match[]): ReadonlyMap<number, readonly Match[]> {
  const pages = new Map<number, Match[]>();
  for (const match of matches) {
    const page = pages.get(match.page);
    if (page) page.push(match);
    else pages.set(match.page, [match]);
  }
  return pages;
}
