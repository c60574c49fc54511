import { useState, type KeyboardEvent } from "react";
import { count } from "~/lib/format";
import { Button } from "~/ui/Button";
import { Icon } from "~/ui/Icon";
import type { Find } from "./useFind";

type Props = {
  pages: number;
  page: number;
  onPage: (page: number) => void;
  scale: number;
  isFit: boolean;
  onStep: (by: 1 | -1) => void;
  onFit: () => void;
  find: Find;
};

/** Page number, zoom and search. */
export function PdfBar({ pages, page, onPage, scale, isFit, onStep, onFit, find }: Props) {
  return (
    <div className="pdf-bar" role="toolbar" aria-label="PDF controls">
      <PageField pages={pages} page={page} onPage={onPage} />
      <span className="row pdf-zoom">
        <Button aria-label="Zoom out" title="Zoom out (-)" onClick={() => onStep(-1)}>−</Button>
        <Button className="num" aria-label={`Zoom ${Math.round(scale * 100)} %, fit to width`} title="Fit to width (0)" aria-pressed={isFit} onClick={onFit}>{isFit ? "Fit" : `${Math.round(scale * 100)} %`}</Button>
        <Button aria-label="Zoom in" title="Zoom in (+)" onClick={() => onStep(1)}>+</Button>
      </span>
      <FindField find={find} />
    </div>
  );
}

/** The number follows the scrolled page until somebody types another one. */
function PageField({ pages, page, onPage }: Pick<Props, "pages" | "page" | "onPage">) {
  const [typed, setTyped] = useState<string | null>(null);
  const go = () => {
    const to = Number(typed);
    if (typed !== null && Number.isInteger(to) && to > 0) onPage(Math.min(pages, to));
    setTyped(null);
  };
  return (
    <form className="row num" onSubmit={(event) => { event.preventDefault(); go(); }}>
      <input className="inp-line pdf-page-no" aria-label={`Page, of ${pages}`} inputMode="numeric" value={typed ?? String(page)} onFocus={(event) => event.currentTarget.select()} onChange={(event) => setTyped(event.target.value)} onBlur={go} />
      <span className="muted">of {count(pages)}</span>
    </form>
  );
}

function FindField({ find }: { find: Find }) {
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === "Enter") find.go(event.shiftKey ? -1 : 1);
    else if (event.key === "Escape" && find.words !== "") find.search("");
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  const told = find.words === "" ? "" : find.isReading ? "Searching…" : find.count === 0 ? "No matches" : `${find.at + 1} of ${count(find.count)}`;
  return (
    <span className="row grow pdf-find">
      <label className="find grow find-s">
        <Icon name="search" size="s" />
        <span className="vh">Find in this PDF</span>
        <input placeholder="Find" value={find.words} onChange={(event) => find.search(event.target.value)} onKeyDown={onKeyDown} />
        <span className="muted num" role="status">{told}</span>
      </label>
      {find.count > 1 && <Button icon="down" className="up" aria-label="Previous match" onClick={() => find.go(-1)} />}
      {find.count > 1 && <Button icon="down" aria-label="Next match" onClick={() => find.go(1)} />}
    </span>
  );
}
