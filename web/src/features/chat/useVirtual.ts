// Draws a window of a long list, keeps what a person reads in place, and follows the end while they are there.
import { useCallback, useLayoutEffect, useRef, useState, type RefObject } from "react";
import { Follow, Heights } from "./virtual";

/** At most this many rows are in the document. */
const MOST = 120;
/** The height of a row that nobody has measured: one closed step. */
const GUESS = 39;

interface Place {
  heights: Heights;
  follow: Follow;
  scrollTop: number;
  width: number;
}

/** Where each conversation was left. */
const places = new Map<string, Place>();

function placeOf(id: string): Place {
  const known = places.get(id);
  if (known) return known;
  const place = { heights: new Heights(GUESS), follow: new Follow(), scrollTop: 0, width: 0 };
  places.set(id, place);
  const oldest = places.keys().next();
  if (places.size > 20 && !oldest.done) places.delete(oldest.value);
  return place;
}

export interface Virtual {
  from: number;
  to: number;
  before: number;
  after: number;
  following: boolean;
  /** Measures a row for as long as it is drawn. */
  measure: (element: HTMLElement | null) => (() => void) | undefined;
  onScroll: () => void;
  detach: () => void;
  toEnd: () => void;
  /** Scrolls a row into the middle of the view, and stays there. */
  toRow: (index: number) => void;
}

/** The reader is this near to the first row when what is before it is wanted. */
const NEAR_TOP = 400;

/** The first row in view, and how far below the upper edge it begins. */
type Anchor = { key: string; offset: number };

/** A window of the rows `keys` of conversation `id` in `scroller`. `onTop` is called when the reader comes near the first row. */
export function useVirtual(id: string, keys: readonly string[], scroller: RefObject<HTMLElement | null>, onTop?: () => void): Virtual {
  const place = placeOf(id);
  const [, draw] = useState(0);
  const [following, setFollowing] = useState(place.follow.following);
  const view = useRef({ top: place.follow.following ? null : place.scrollTop, height: 800, drawn: { from: 0, to: 0 }, anchor: null as Anchor | null, onTop });
  view.current.onTop = onTop;
  // Rows that come before the one that is read push it down: the view goes along.
  const moved = place.heights.setKeys(keys, place.follow.following ? undefined : view.current.anchor?.key);
  if (view.current.top !== null) view.current.top += moved;
  // Before the first look at the page the end is where it will be.
  const top = view.current.top ?? Math.max(0, place.heights.total - view.current.height);
  const window = place.heights.window(top, view.current.height, MOST);
  view.current.drawn = window;

  const rows = useRef(new Map<Element, string>());
  const settle = useCallback(() => {
    const box = scroller.current;
    if (!box) return;
    if (place.follow.following) box.scrollTop = box.scrollHeight;
    place.scrollTop = view.current.top = box.scrollTop;
    view.current.height = box.clientHeight;
    const { from, to } = view.current.drawn;
    if (!place.heights.covers(from, to, box.scrollTop, box.clientHeight)) draw((n) => n + 1);
    view.current.anchor = place.follow.following ? null : anchorOf(box, rows.current);
    const isShort = box.scrollHeight <= box.clientHeight + 1;
    // What fits the view is seen whole: there is no end to go to.
    if (isShort && !place.follow.following) {
      place.follow.attach();
      setFollowing(true);
    }
    if (isShort || (!place.follow.following && box.scrollTop < NEAR_TOP)) view.current.onTop?.();
  }, [place, scroller]);

  const observer = useRef<ResizeObserver | null>(null);
  const observe = useCallback(() => {
    observer.current ??= new ResizeObserver((entries) => {
      const box = scroller.current;
      if (!box) return;
      let shift = 0;
      for (const entry of entries) {
        const key = rows.current.get(entry.target);
        if (key === undefined) continue;
        const element = entry.target as HTMLElement;
        const above = element.offsetTop + element.offsetHeight <= box.scrollTop + 1;
        const grew = place.heights.measure(key, entry.borderBoxSize[0]?.blockSize ?? element.offsetHeight);
        if (above) shift += grew;
      }
      if (shift !== 0 && !place.follow.following) box.scrollTop += shift;
      // Rows in the document push each other; only those outside need to be drawn anew.
      settle();
    });
    return observer.current;
  }, [place, scroller, settle]);

  const measure = useCallback(
    (element: HTMLElement | null) => {
      const key = element?.dataset.key;
      if (!element || key === undefined) return undefined;
      rows.current.set(element, key);
      observe().observe(element);
      return () => {
        rows.current.delete(element);
        observer.current?.unobserve(element);
      };
    },
    [observe],
  );

  const onScroll = useCallback(() => {
    const box = scroller.current;
    if (!box) return;
    const upwards = box.scrollTop < (view.current.top ?? 0) - 0.5;
    place.follow.moved(box.scrollHeight - box.scrollTop - box.clientHeight, upwards);
    setFollowing(place.follow.following);
    settle();
  }, [place, scroller, settle]);

  // A layout effect: rows that came or went moved the document, and the reader must not see it.
  useLayoutEffect(() => {
    const box = scroller.current;
    if (!box) return;
    const { anchor, top } = view.current;
    const offset = anchor && offsetOf(box, rows.current, anchor.key);
    if (anchor && offset !== null) box.scrollTop += offset - anchor.offset;
    else if (anchor && top !== null) box.scrollTop = top;
    settle();
  }, [keys, place, scroller, settle]);

  // A layout effect: it watches the size of the scroller, and puts the reader back where they were.
  useLayoutEffect(() => {
    const box = scroller.current;
    if (!box) return;
    if (!place.follow.following) box.scrollTop = place.scrollTop;
    const resized = new ResizeObserver(() => {
      if (place.width !== 0 && place.width !== box.clientWidth) place.heights.forget();
      place.width = box.clientWidth;
      settle();
      draw((n) => n + 1);
    });
    resized.observe(box);
    return () => resized.disconnect();
  }, [place, scroller, settle]);

  const detach = useCallback(() => {
    place.follow.detach();
    setFollowing(false);
  }, [place]);
  const toEnd = useCallback(() => {
    place.follow.attach();
    setFollowing(true);
    settle();
    draw((n) => n + 1);
  }, [place, settle]);

  const toRow = useCallback((index: number) => {
    const box = scroller.current;
    if (!box) return;
    place.follow.detach();
    setFollowing(false);
    const middle = () => Math.max(0, place.heights.top(index) - box.clientHeight / 3);
    view.current.anchor = null;
    box.scrollTop = view.current.top = middle();
    draw((n) => n + 1);
    // Rows around it are measured once they are drawn, which moves it.
    requestAnimationFrame(() => requestAnimationFrame(() => {
      box.scrollTop = middle();
      settle();
    }));
  }, [place, scroller, settle]);

  return {
    ...window,
    before: place.heights.top(window.from),
    after: Math.max(0, place.heights.total - place.heights.top(window.to)),
    following,
    measure,
    onScroll,
    detach,
    toEnd,
    toRow,
  };
}

const edgeOf = (box: HTMLElement): number => box.getBoundingClientRect().top;

function anchorOf(box: HTMLElement, rows: ReadonlyMap<Element, string>): Anchor | null {
  const edge = edgeOf(box);
  let first: Anchor | null = null;
  for (const [row, key] of rows) {
    const { top, bottom } = row.getBoundingClientRect();
    if (bottom > edge && (first === null || top - edge < first.offset)) first = { key, offset: top - edge };
  }
  return first;
}

function offsetOf(box: HTMLElement, rows: ReadonlyMap<Element, string>, wanted: string): number | null {
  for (const [row, key] of rows) if (key === wanted) return row.getBoundingClientRect().top - edgeOf(box);
  return null;
}
