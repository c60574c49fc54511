import { useEffect, useRef, useState } from "react";
import { plural } from "~/lib/format";
import { Empty } from "~/ui/Notice";
import { imageType } from "./kinds";
import { readSlides, type Deck, type Shape, type Slide } from "./slides";
import { Parsed, useParsed } from "./useParsed";

export default function SlidesView({ bytes }: { bytes: Uint8Array<ArrayBuffer> }) {
  const deck = useParsed(bytes, readSlides);
  return (
    <Parsed of={deck}>
      {(all) =>
        all.slides.length === 0 ? (
          <Empty icon="slides">The presentation has no slide.</Empty>
        ) : (
          <div className="slides-view" tabIndex={0} role="region" aria-label={plural(all.slides.length, "slide")}>
            {all.slides.map((slide, at) => <SlideCard key={at} deck={all} slide={slide} number={at + 1} />)}
            <p className="muted">Texts, pictures and their places as in the file; effects and some fonts are not drawn here.</p>
          </div>
        )
      }
    </Parsed>
  );
}

function SlideCard({ deck, slide, number }: { deck: Deck; slide: Slide; number: number }) {
  const ref = useRef<HTMLDivElement>(null);
  const [scale, setScale] = useState(0.5);
  useEffect(() => {
    const watch = new ResizeObserver(([entry]) => entry && setScale(entry.contentRect.width / deck.widthPt));
    if (ref.current) watch.observe(ref.current);
    return () => watch.disconnect();
  }, [deck.widthPt]);
  return (
    <section aria-label={`Slide ${number}`}>
      <div className="slide" ref={ref} style={{ aspectRatio: String(deck.ratio) }}>
        {slide.shapes.map((shape, at) => <ShapeBox key={at} deck={deck} shape={shape} scale={scale} />)}
      </div>
      <small className="muted num">{number}</small>
    </section>
  );
}

function ShapeBox({ deck, shape, scale }: { deck: Deck; shape: Shape; scale: number }) {
  const place = { left: `${shape.x * 100}%`, top: `${shape.y * 100}%`, width: `${shape.w * 100}%`, height: `${shape.h * 100}%` };
  if (shape.kind === "picture") return <div className="shape" style={place}><Picture deck={deck} path={shape.path} /></div>;
  const usual = shape.isTitle ? 36 : 18;
  return (
    <div className="shape" style={{ ...place, background: shape.fill ?? undefined }}>
      {shape.paragraphs.map((paragraph, at) => (
        <p key={at} style={{ textAlign: paragraph.align, paddingLeft: `${paragraph.level * 1.2}em` }}>
          {paragraph.bullet && "• "}
          {paragraph.runs.map((run, n) => (
            <span key={n} style={{ fontSize: `${(run.size ?? usual) * scale}px`, fontWeight: run.bold ? 700 : undefined, fontStyle: run.italic ? "italic" : undefined, color: run.colour ?? undefined }}>{run.text}</span>
          ))}
        </p>
      ))}
    </div>
  );
}

function Picture({ deck, path }: { deck: Deck; path: string }) {
  const [src, setSrc] = useState<string>();
  useEffect(() => {
    let url: string | undefined;
    let isCurrent = true;
    const type = imageType(path);
    if (type) {
      void deck.picture(path).then((bytes) => {
        if (!isCurrent || !bytes) return;
        url = URL.createObjectURL(new Blob([bytes], { type }));
        setSrc(url);
      });
    }
    return () => {
      isCurrent = false;
      if (url) URL.revokeObjectURL(url);
    };
  }, [deck, path]);
  return src ? <img src={src} alt="" /> : null;
}
