import { act } from "react";
import { createRoot } from "react-dom/client";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { dismissToasts, toast, Toasts } from "./toasts";

(globalThis as { IS_REACT_ACT_ENVIRONMENT?: boolean }).IS_REACT_ACT_ENVIRONMENT = true;

let box: HTMLElement;
let leave = async () => {};
beforeEach(async () => {
  vi.useFakeTimers();
  box = document.body.appendChild(document.createElement("div"));
  const root = createRoot(box);
  await act(async () => root.render(<><button id="main">before</button><Toasts /></>));
  leave = async () => {
    await act(async () => root.unmount());
    box.remove();
  };
});
afterEach(async () => {
  await act(async () => void dismissToasts());
  await leave();
  vi.useRealTimers();
});

const say = (...titles: string[]) => act(async () => titles.forEach((title) => toast({ title })));
const titles = () => [...box.querySelectorAll(".toast b")].map((title) => title.textContent);
const pass = (ms: number) => act(async () => vi.advanceTimersByTime(ms));
const card = (at: number) => box.querySelectorAll<HTMLElement>(".toast")[at]!;

test("news is told politely, and what needs somebody at once", async () => {
  await say("Forked");
  await act(async () => toast({ title: "Invoices needs you", warn: true }));
  expect(box.querySelector("[role=status]")?.textContent).toContain("Forked");
  expect(box.querySelector("[role=alert]")?.textContent).toContain("Invoices needs you");
});

test("two at most, for six seconds", async () => {
  await say("one", "two", "three");
  expect(titles()).toEqual(["two", "three"]);
  await pass(5_900);
  expect(titles()).toEqual(["two", "three"]);
  await pass(200);
  expect(titles()).toEqual([]);
});

test("it waits under the focus, is not pushed away there, and gives the focus back", async () => {
  await say("one", "two");
  const before = box.querySelector<HTMLElement>("#main")!;
  before.focus();
  const dismiss = card(0).querySelector<HTMLElement>("[aria-label='Dismiss: one']")!;
  await act(async () => dismiss.focus());
  await say("three");
  expect(titles()).toEqual(["one", "three"]);
  await pass(20_000);
  expect(titles()).toEqual(["one"]);
  await act(async () => void dismiss.dispatchEvent(new KeyboardEvent("keydown", { key: "Escape", bubbles: true, cancelable: true })));
  expect(titles()).toEqual([]);
  expect(document.activeElement).toBe(before);
});

test("an action takes it away and is done", async () => {
  const run = vi.fn();
  await act(async () => toast({ title: "Asks", action: { label: "Open", run } }));
  await act(async () => box.querySelector<HTMLElement>(".toast-act")!.click());
  expect(run).toHaveBeenCalledOnce();
  expect(titles()).toEqual([]);
});
