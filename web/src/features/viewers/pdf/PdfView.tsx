import { getDocument, GlobalWorkerOptions, type PDFDocumentProxy } from "pdfjs-dist";
import workerUrl from "pdfjs-dist/build/pdf.worker.min.mjs?url";
import { useLayoutEffect, useRef, useState, type KeyboardEvent } from "react";
import { Parsed, useParsed } from "../useParsed";
import "./pdf.css";
import { PdfBar } from "./PdfBar";
import { PdfPage } from "./PdfPage";
import { useFind } from "./useFind";
import { useFit } from "./useFit";

GlobalWorkerOptions.workerSrc = workerUrl;

type Opened = { pdf: PDFDocumentProxy; /** Of the first page, in points. */ width: number; height: number };

async function open(bytes: Uint8Array<ArrayBuffer>): Promise<Opened> {
  // A copy, because the worker takes ownership of the buffer.
  const pdf = await getDocument({ data: bytes.slice(), isEvalSupported: false, enableXfa: false }).promise;
  const { width, height } = (await pdf.getPage(1)).getViewport({ scale: 1 });
  return { pdf, width, height };
}

const close = ({ pdf }: Opened) => void pdf.loadingTask.destroy();

export default function PdfView({ bytes }: { bytes: Uint8Array<ArrayBuffer> }) {
  const opened = useParsed(bytes, open, close);
  return <Parsed of={opened}>{(document) => <Pages {...document} />}</Parsed>;
}

const STEPS = [0.5, 0.67, 0.8, 1, 1.25, 1.5, 2, 3, 4];

/** All pages below each other, as wide as the panel unless a zoom is chosen. */
function Pages({ pdf, width, height }: Opened) {
  const scroller = useRef<HTMLDivElement>(null);
  const [zoom, setZoom] = useState<number | null>(null);
  const [page, setPage] = useState(1);
  const fit = useFit(scroller, width);
  const find = useFind(pdf);
  const scale = zoom ?? fit;
  // The same place stays in view at another scale.
  const last = useRef(scale);
  useLayoutEffect(() => {
    if (scroller.current) scroller.current.scrollTop *= scale / last.current;
    last.current = scale;
  }, [scale]);
  const step = (by: 1 | -1) => {
    const next = by > 0 ? STEPS.find((one) => one > scale + 0.01) : STEPS.findLast((one) => one < scale - 0.01);
    if (next !== undefined) setZoom(next);
  };
  const goTo = (to: number) => {
    const box = scroller.current;
    const target = box?.children[to - 1] as HTMLElement | undefined;
    if (box && target) box.scrollTop = target.offsetTop - 8;
  };
  const onScroll = () => {
    const box = scroller.current;
    if (!box) return;
    const middle = box.scrollTop + box.clientHeight / 2;
    const at = [...box.children].findLastIndex((one) => (one as HTMLElement).offsetTop <= middle);
    setPage(Math.max(0, at) + 1);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "+" || event.key === "=") step(1);
    else if (event.key === "-") step(-1);
    else if (event.key === "0") setZoom(null);
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <>
      <PdfBar pages={pdf.numPages} page={page} onPage={goTo} scale={scale} isFit={zoom === null} onStep={step} onFit={() => setZoom(null)} find={find} />
      <div ref={scroller} className="pdf-view" tabIndex={0} role="region" aria-label={`PDF, ${pdf.numPages} ${pdf.numPages === 1 ? "page" : "pages"}`} onScroll={onScroll} onKeyDown={onKeyDown}>
        {Array.from({ length: pdf.numPages }, (_, at) => (
          <PdfPage key={at} pdf={pdf} number={at + 1} usual={{ width, height }} scale={scale} matches={find.onPage(at + 1)} current={find.current?.page === at + 1 ? find.current : null} />
        ))}
      </div>
    </>
  );
}
