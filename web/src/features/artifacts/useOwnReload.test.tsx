import { act, useRef } from "react";
import { createRoot, type Root } from "react-dom/client";
import { afterEach, beforeEach, expect, test } from "vitest";
import { useOwnReload } from "./useOwnReload";

(globalThis as { IS_REACT_ACT_ENVIRONMENT?: boolean }).IS_REACT_ACT_ENVIRONMENT = true;

let root: Root;
let box: HTMLElement;
let reloads: number;

function Frame({ isRunning, isStale }: { isRunning: boolean; isStale: boolean }) {
  const frame = useRef<HTMLDivElement>(null);
  const touch = useOwnReload(frame, isRunning, isStale, () => (reloads += 1));
  return <div ref={frame} {...touch}><iframe title="preview" /></div>;
}
const show = (isRunning: boolean, isStale: boolean) => act(async () => root.render(<Frame isRunning={isRunning} isStale={isStale} />));

beforeEach(() => {
  reloads = 0;
  box = document.body.appendChild(document.createElement("div"));
  root = createRoot(box);
});
afterEach(async () => {
  await act(async () => root.unmount());
  box.remove();
});

test("a preview that opened during a run reloads once when the run ends", async () => {
  await show(true, false);
  await show(true, true);
  expect(reloads).toBe(0);
  await show(false, true);
  expect(reloads).toBe(1);
  await show(false, false);
  await show(true, true);
  await show(false, true);
  expect(reloads).toBe(1);
});

test("a preview that changes a moment after the end reloads too", async () => {
  await show(true, false);
  await show(false, false);
  await show(false, true);
  expect(reloads).toBe(1);
});

test("a preview that was opened between runs waits for the person", async () => {
  await show(false, false);
  await show(true, true);
  await show(false, true);
  expect(reloads).toBe(0);
});

test("a preview in which somebody works is left alone", async () => {
  await show(true, true);
  box.querySelector("iframe")!.focus();
  dispatchEvent(new Event("blur"));
  await show(false, true);
  expect(reloads).toBe(0);
});
