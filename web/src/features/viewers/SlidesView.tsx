import { useEffect, useRef, useState, type KeyboardEvent } from "react";
import { plural } from "~/lib/format";
import { Button } from "~/ui/Button";
import { Empty } from "~/ui/Notice";
import { readSlides, type Deck } from "./slides/deck";
import { SlideDrawing } from "./slides/SlideDrawing";
import "./slides/slides.css";
import { Parsed, useParsed } from "./useParsed";

export default function SlidesView({ bytes }: { bytes: Uint8Array<ArrayBuffer> }) {
  const deck = useParsed(bytes, readSlides);
  return <Parsed of={deck}>{(all) => (all.slides.length === 0 ? <Empty icon="slides">The presentation has no slide.</Empty> : <Show deck={all} />)}</Parsed>;
}

/** Where a key leads from a slide. */
function stepOf(key: string, at: number, last: number): number | null {
  switch (key) {
    case "ArrowRight":
    case "ArrowDown":
    case "PageDown":
      return Math.min(last, at + 1);
    case "ArrowLeft":
    case "ArrowUp":
    case "PageUp":
      return Math.max(0, at - 1);
    case "Home":
      return 0;
    case "End":
      return last;
    default:
      return null;
  }
}

/** One slide at a time, and all of them small beside it. */
function Show({ deck }: { deck: Deck }) {
  const [wanted, setWanted] = useState(0);
  const strip = useRef<HTMLDivElement>(null);
  const stage = useRef<HTMLDivElement>(null);
  const [showsNotes, setShowsNotes] = useState(false);
  const last = deck.slides.length - 1;
  const at = Math.min(wanted, last);
  const slide = deck.slides[at]!;
  useEffect(() => {
    const [box, thumb] = [strip.current, strip.current?.children[at] as HTMLElement | undefined];
    if (!box || !thumb) return;
    // Only the strip moves, never the page around it.
    box.scrollTo({ left: thumb.offsetLeft - (box.clientWidth - thumb.clientWidth) / 2, top: thumb.offsetTop - (box.clientHeight - thumb.clientHeight) / 2 });
  }, [at]);
  // In full screen the arrow keys are the slide's, without a click first.
  useEffect(() => {
    const onFull = () => {
      if (document.fullscreenElement?.contains(stage.current)) stage.current?.focus();
    };
    document.addEventListener("fullscreenchange", onFull);
    return () => document.removeEventListener("fullscreenchange", onFull);
  }, []);
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const to = stepOf(event.key, at, last);
    if (to === null) return;
    event.preventDefault();
    event.stopPropagation();
    setWanted(to);
  };
  return (
    <div className="slides-view" role="group" aria-roledescription="presentation" aria-label={plural(deck.slides.length, "slide")} onKeyDown={onKeyDown}>
      <div className="slides-in">
      <div ref={stage} className="slide-stage" tabIndex={0} role="region" aria-label={`Slide ${at + 1} of ${last + 1}${slide.title ? `: ${slide.title}` : ""}`}>
        <SlideDrawing className="slide" deck={deck} slide={slide} />
      </div>
      <div className="slide-bar">
        <Button icon="right" className="back" aria-label="Previous slide" title="Previous (←)" disabled={at === 0} onClick={() => setWanted(at - 1)} />
        <span className="num" aria-live="polite">{at + 1} of {last + 1}</span>
        <Button icon="right" aria-label="Next slide" title="Next (→)" disabled={at === last} onClick={() => setWanted(at + 1)} />
        <bdi className="cut grow muted">{slide.title}</bdi>
        {slide.isHidden && <span className="muted">hidden slide</span>}
        {slide.notes && <Button aria-expanded={showsNotes} onClick={() => setShowsNotes(!showsNotes)}>Notes</Button>}
      </div>
      {showsNotes && slide.notes && <div className="slide-notes" role="region" aria-label="Speaker notes" tabIndex={0}><bdi>{slide.notes}</bdi></div>}
      <div className="thumbs" ref={strip} role="group" aria-label="All slides">
        {deck.slides.map((one, n) => (
          <div key={n} className="thumb">
            <span className="num" aria-hidden="true">{n + 1}</span>
            <SlideDrawing className="slide-small" deck={deck} slide={one} isSmall />
            <button type="button" aria-label={`Slide ${n + 1}${one.title ? `: ${one.title}` : ""}`} aria-current={n === at ? "true" : undefined} onClick={() => setWanted(n)} />
          </div>
        ))}
      </div>
      </div>
    </div>
  );
}
