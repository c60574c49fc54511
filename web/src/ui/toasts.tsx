// Short news about things that are not on screen; two at most, six seconds, waiting under the pointer.
import { useRef, useSyncExternalStore } from "react";
import { Button } from "./Button";
import { Icon } from "./Icon";
import type { IconName } from "./IconSprite";

export type Toast = {
  title: string;
  text?: string;
  icon?: IconName;
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

const start = (id: number) => timers.set(id, setTimeout(() => hide(id), SECONDS * 1000));

export function toast(news: Toast) {
  lastId += 1;
  const gone = shown.slice(0, Math.max(0, shown.length - MOST + 1));
  gone.forEach((old) => stop(old.id));
  set([...shown.slice(gone.length), { ...news, id: lastId }]);
  start(lastId);
}

export function Toasts() {
  const all = useSyncExternalStore(
    (watcher) => {
      watchers.add(watcher);
      return () => watchers.delete(watcher);
    },
    () => shown,
  );
  return (
    <div className="toasts" role="status" aria-label="News">
      {all.map((news) => (
        <ToastCard key={news.id} news={news} />
      ))}
    </div>
  );
}

function ToastCard({ news }: { news: Shown }) {
  const card = useRef<HTMLDivElement>(null);
  const resume = () => {
    if (!card.current?.matches(":hover, :focus-within")) start(news.id);
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
        <b>{news.title}</b>
        {news.text && <p>{news.text}</p>}
        {news.action && (
          <button type="button" className="toast-act" onClick={() => { hide(news.id); news.action?.run(); }}>
            {news.action.label}
          </button>
        )}
      </div>
      <Button icon="x" aria-label="Dismiss" onClick={() => hide(news.id)} />
    </div>
  );
}
