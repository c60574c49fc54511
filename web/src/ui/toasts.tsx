// Short news about things that are not on screen; two at most, six seconds, waiting under the pointer and the focus.
import { useRef, useSyncExternalStore, type FocusEvent } from "react";
import { Button } from "./Button";
import { Icon } from "./Icon";
import type { IconName } from "./IconSprite";
import { useClearOf } from "./useClearOf";

export type Toast = {
  title: string;
  text?: string;
  icon?: IconName;
  /** Somebody is needed: it is told at once, not when a screen reader has nothing else to say. */
  warn?: boolean;
  action?: { label: string; run: () => void };
};

type Shown = Toast & { id: number };

const SECONDS = 6;
const MOST = 2;
let shown: readonly Shown[] = [];
let lastId = 0;
const watchers = new Set<() => void>();
const timers = new Map<number, ReturnType<typeof setTimeout>>();

function set(next: readonly Shown[]) {
  shown = next;
  watchers.forEach((watcher) => watcher());
}

function hide(id: number) {
  stop(id);
  set(shown.filter((toast) => toast.id !== id));
}

function stop(id: number) {
  clearTimeout(timers.get(id));
  timers.delete(id);
}

/** In a tab that nobody sees the time does not pass. */
function start(id: number) {
  stop(id);
  const end = () => (document.hidden ? start(id) : hide(id));
  timers.set(id, setTimeout(end, SECONDS * 1000));
}

export function toast(news: Toast) {
  lastId += 1;
  while (shown.length >= MOST) {
    // One that somebody reads or is about to press stays, if another can go.
    const gone = shown.find((old) => timers.has(old.id)) ?? shown[0]!;
    hide(gone.id);
  }
  set([...shown, { ...news, id: lastId }]);
  start(lastId);
}

/** Takes all of them away. Says whether there was one. */
export function dismissToasts(): boolean {
  const all = shown;
  all.forEach((news) => stop(news.id));
  if (all.length > 0) set([]);
  return all.length > 0;
}

export function Toasts() {
  const all = useSyncExternalStore(
    (watcher) => {
      watchers.add(watcher);
      return () => watchers.delete(watcher);
    },
    () => shown,
  );
  const box = useRef<HTMLDivElement>(null);
  const cameFrom = useRef<Element | null>(null);
  useClearOf(box, ".dock-in", all.length > 0);
  const onFocus = (event: FocusEvent) => {
    if (!box.current?.contains(event.relatedTarget)) cameFrom.current = event.relatedTarget;
  };
  // What had the focus goes away with it: back to where it came from, not to the top of the page.
  const leave = (act: () => void) => {
    const hadFocus = box.current?.contains(document.activeElement);
    act();
    const back = cameFrom.current?.isConnected ? cameFrom.current : document.getElementById("main");
    if (hadFocus) (back as HTMLElement | null)?.focus();
  };
  const cards = (isUrgent: boolean) => all.filter((news) => Boolean(news.warn) === isUrgent).map((news) => <ToastCard key={news.id} news={news} leave={leave} />);
  // Both are there before anything is in them: a screen reader tells only what comes into what it knows.
  return (
    <div className="toasts" ref={box} onFocus={onFocus} onKeyDown={(event) => event.key === "Escape" && (event.preventDefault(), leave(dismissToasts))}>
      <div role="alert">{cards(true)}</div>
      <div role="status" aria-label="News">{cards(false)}</div>
    </div>
  );
}

function ToastCard({ news, leave }: { news: Shown; leave: (act: () => void) => void }) {
  const card = useRef<HTMLDivElement>(null);
  const resume = () => {
    if (card.current && !card.current.matches(":hover, :focus-within")) start(news.id);
  };
  return (
    <div
      ref={card}
      className={`toast ${news.warn ? "w" : ""}`}
      onPointerEnter={() => stop(news.id)}
      onPointerLeave={resume}
      onFocus={() => stop(news.id)}
      onBlur={() => setTimeout(resume)}
    >
      <Icon name={news.icon ?? "check"} className="tic" />
      <div className="grow">
        <b><bdi>{news.title}</bdi></b>
        {news.text && <p><bdi>{news.text}</bdi></p>}
      </div>
      {news.action && (
        <button type="button" className="toast-act" onClick={() => { leave(() => hide(news.id)); news.action?.run(); }}>
          {news.action.label}
        </button>
      )}
      <Button icon="x" className="tiny" aria-label={`Dismiss: ${news.title}`} onClick={() => leave(() => hide(news.id))} />
    </div>
  );
}
