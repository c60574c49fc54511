import { TextLayer, type PDFDocumentProxy, type PDFPageProxy } from "pdfjs-dist";
import { memo, useEffect, useRef, useState, type CSSProperties } from "react";
import { placeOf, type Match } from "./find";
import { useNear } from "./useNear";

type Size = { width: number; height: number };
type Props = { pdf: PDFDocumentProxy; number: number; /** Until the page itself is read. */ usual: Size; scale: number; matches: readonly Match[]; current: Match | null };

/** A larger canvas is refused by browsers, or exhausts a phone. */
const MAX_PIXELS = 16_000_000;

/** A page, drawn while it is near the view at the sharpness of the screen, with its text above it to select and to find. */
export const PdfPage = memo(function PdfPage({ pdf, number, usual, scale, matches, current }: Props) {
  const { ref, isNear } = useNear();
  const canvas = useRef<HTMLCanvasElement>(null);
  const layer = useRef<HTMLDivElement>(null);
  const [page, setPage] = useState<PDFPageProxy | null>(null);
  const [texts, setTexts] = useState<Texts | null>(null);
  const [words, setWords] = useState("");
  const [isFailed, setFailed] = useState(false);
  const { width, height } = page ? page.getViewport({ scale: 1 }) : usual;

  // Pages are read from the worker of the document when they come near.
  useEffect(() => {
    let isCurrent = true;
    if (isNear && !page) pdf.getPage(number).then((read) => isCurrent && setPage(read), () => isCurrent && setFailed(true));
    return () => {
      isCurrent = false;
    };
  }, [pdf, number, isNear, page]);

  // A canvas is drawn by hand, and drawn again at each scale.
  useEffect(() => {
    if (!page || !isNear || !canvas.current) return;
    return drawn(page, canvas.current, scale, () => setFailed(true));
  }, [page, isNear, scale]);

  // The text layer is made by the library, of elements that are not React's.
  useEffect(() => {
    const box = layer.current;
    if (!page || !isNear || !box) return;
    let isCurrent = true;
    const made = new TextLayer({ textContentSource: page.streamTextContent(), container: box, viewport: page.getViewport({ scale: 1 }) });
    const done = () => {
      if (!isCurrent) return;
      setTexts({ elements: made.textDivs, strings: made.textContentItemsStr });
      setWords(made.textContentItemsStr.join(" "));
    };
    made.render().then(done, () => {}); // Cancelled, or without text: the picture is there all the same.
    return () => {
      isCurrent = false;
      made.cancel();
      box.replaceChildren();
      setTexts(null);
    };
  }, [page, isNear]);

  // Highlights are ranges of the document, kept by the browser.
  useEffect(() => (texts ? marked(texts, matches, current) : undefined), [texts, matches, current]);

  // A match on a page out of view brings the page into view; its text then says where exactly.
  useEffect(() => {
    if (!current) return;
    const place = texts && placeOf(texts.strings, current.from, false);
    const target = (place && texts.elements[place.piece]) || ref.current;
    target?.scrollIntoView({ block: place ? "center" : "start" });
  }, [texts, current, ref]);

  return (
    <div ref={ref} className="pdf-page" style={{ width: width * scale, height: height * scale, "--total-scale-factor": scale } as CSSProperties}>
      <canvas ref={canvas} aria-hidden="true" />
      <div ref={layer} className="textLayer" aria-hidden="true" />
      {isFailed && <p className="pdf-failed">This page is damaged and cannot be shown.</p>}
      <p className="vh">Page {number}: {words}</p>
    </div>
  );
});

/** Draws a page; the result stops it and releases its memory. */
function drawn(page: PDFPageProxy, canvas: HTMLCanvasElement, scale: number, onFailed: () => void): () => void {
  const { width, height } = page.getViewport({ scale });
  const sharp = Math.min(devicePixelRatio || 1, Math.sqrt(MAX_PIXELS / (width * height)));
  const viewport = page.getViewport({ scale: scale * sharp });
  canvas.width = Math.round(viewport.width);
  canvas.height = Math.round(viewport.height);
  const task = page.render({ canvas, viewport });
  const done = () => void (canvas.dataset.drawn = "");
  task.promise.then(done, (error: unknown) => (error as Error).name !== "RenderingCancelledException" && onFailed());
  return () => {
    task.cancel();
    delete canvas.dataset.drawn;
    canvas.width = 0;
  };
}

type Texts = { elements: readonly HTMLElement[]; strings: readonly string[] };

const HIGHLIGHTS = ["pdf-found", "pdf-current"] as const;

/** Marks matches in the text layer; the result takes the marks away. Without the browser's highlights the page is still scrolled to. */
function marked(texts: Texts, matches: readonly Match[], current: Match | null): () => void {
  if (typeof Highlight === "undefined") return () => {};
  const [found, now] = HIGHLIGHTS.map((name) => {
    const known = CSS.highlights.get(name) ?? new Highlight();
    CSS.highlights.set(name, known);
    return known;
  }) as [Highlight, Highlight];
  const ranges = matches.flatMap((match) => {
    const range = rangeOf(texts, match);
    if (range) (match === current ? now : found).add(range);
    return range ?? [];
  });
  return () => ranges.forEach((range) => (found.delete(range), now.delete(range)));
}

function rangeOf({ elements, strings }: Texts, match: Match): Range | null {
  const [from, to] = [placeOf(strings, match.from, false), placeOf(strings, match.to, true)];
  const [start, end] = [from && elements[from.piece]?.firstChild, to && elements[to.piece]?.firstChild];
  if (!from || !to || !start || !end) return null;
  const range = document.createRange();
  range.setStart(start, Math.min(from.offset, start.textContent?.length ?? 0));
  range.setEnd(end, Math.min(to.offset, end.textContent?.length ?? 0));
  return range;
}
