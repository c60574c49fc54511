import { getDocument, GlobalWorkerOptions, type PDFDocumentProxy } from "pdfjs-dist";
import workerUrl from "pdfjs-dist/build/pdf.worker.min.mjs?url";
import { useEffect, useRef, useState } from "react";
import { Parsed, useParsed } from "./useParsed";

GlobalWorkerOptions.workerSrc = workerUrl;

const open = (bytes: Uint8Array<ArrayBuffer>): Promise<PDFDocumentProxy> =>
  // A copy, because the worker takes what it is given away.
  getDocument({ data: bytes.slice(), isEvalSupported: false, enableXfa: false, disableFontFace: false }).promise;

export default function PdfView({ bytes }: { bytes: Uint8Array<ArrayBuffer> }) {
  const pdf = useParsed(bytes, open);
  return (
    <Parsed of={pdf}>
      {(document) => (
        <div className="pdf-view" tabIndex={0} role="region" aria-label={`PDF, ${document.numPages} pages`}>
          {Array.from({ length: document.numPages }, (_, at) => <Page key={at} pdf={document} number={at + 1} />)}
        </div>
      )}
    </Parsed>
  );
}

/** A page, drawn when it comes into view; its words are there for readers of screens. */
function Page({ pdf, number }: { pdf: PDFDocumentProxy; number: number }) {
  const box = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const [ratio, setRatio] = useState(0.707);
  const [words, setWords] = useState("");
  useEffect(() => {
    let cancel = () => {};
    const draw = async () => {
      const page = await pdf.getPage(number);
      const usual = page.getViewport({ scale: 1 });
      setRatio(usual.width / usual.height);
      const width = (box.current?.clientWidth ?? 600) * Math.min(2, devicePixelRatio);
      const viewport = page.getViewport({ scale: width / usual.width });
      if (!canvas.current) return;
      canvas.current.width = viewport.width;
      canvas.current.height = viewport.height;
      const task = page.render({ canvas: canvas.current, viewport });
      cancel = () => task.cancel();
      await task.promise;
      const text = await page.getTextContent();
      setWords(text.items.map((item) => ("str" in item ? item.str : "")).join(" "));
    };
    const watch = new IntersectionObserver((entries) => {
      if (!entries.some((entry) => entry.isIntersecting)) return;
      watch.disconnect();
      // A page that was left before it was drawn needs no words.
      draw().catch(() => {});
    }, { rootMargin: "600px" });
    if (box.current) watch.observe(box.current);
    return () => {
      watch.disconnect();
      cancel();
    };
  }, [pdf, number]);
  return (
    <div ref={box} className="pdf-page" style={{ aspectRatio: String(ratio) }}>
      <canvas ref={canvas} aria-hidden="true" />
      <p className="vh">Page {number}: {words}</p>
    </div>
  );
}
