import type { Approval } from "@warren/react";
import { act } from "react";
import { createRoot } from "react-dom/client";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { ApprovalCard } from "./ApprovalCard";
import { answer as answerByKey } from "../shell/useKeys";
import { ARM_MS } from "./useArming";

(globalThis as { IS_REACT_ACT_ENVIRONMENT?: boolean }).IS_REACT_ACT_ENVIRONMENT = true;

let box: HTMLElement;
let given: string[];
let show: (...ids: string[]) => Promise<void>;
let leave = async () => {};

const request = (approvalId: string): Approval => ({
  approvalId, sessionId: "s", conversationId: "main", runId: null, toolUseId: null, kind: "permission", title: "Run a command",
  detail: { toolName: "bash", input: { command: `touch ${approvalId}` } }, options: ["allow", "allow_always", "deny"],
  requestedAt: "2026-01-01T00:00:00Z", expiresAt: "2026-01-02T00:00:00Z", resolution: null,
} as unknown as Approval);

beforeEach(() => {
  vi.useFakeTimers();
  given = [];
  box = document.body.appendChild(document.createElement("div"));
  const root = createRoot(box);
  const answer = async (id: string, decision: string) => void given.push(`${id} ${decision}`);
  show = (...ids) =>
    act(async () => root.render(
      <section className="chat">
        <textarea id="msg" />
        {ids.map((id) => <ApprovalCard key={id} approval={request(id)} who="Built-in" answer={answer} />)}
      </section>,
    ));
  leave = async () => {
    await act(async () => root.unmount());
    box.remove();
  };
});
afterEach(async () => {
  await leave();
  vi.useRealTimers();
});

const pass = (ms: number) => act(async () => vi.advanceTimersByTime(ms));
const card = (id = "one") => box.querySelector<HTMLElement>(`[data-approval="${id}"]`)!;
const allow = (id = "one") => card(id).querySelector<HTMLButtonElement>('[data-key="a"]')!;
const on = (target: EventTarget, event: Event) => act(async () => void target.dispatchEvent(event));
const pointer = (kind: string, more: PointerEventInit = {}) => new PointerEvent(kind, { bubbles: true, pointerType: "mouse", ...more });
const down = (target: EventTarget) => on(target, pointer("pointerdown"));
const click = (target: EventTarget, detail = 1) => on(target, new MouseEvent("click", { bubbles: true, cancelable: true, detail }));
/** What a browser makes of a key on a button. */
const key = async (target: HTMLElement, name: string, repeat = false) => {
  const event = new KeyboardEvent("keydown", { key: name, repeat, bubbles: true, cancelable: true });
  await on(target, event);
  if (!event.defaultPrevented) await click(target, 0);
};

test("a request answers no press in its first second, and shows that", async () => {
  await show("one");
  expect(allow().getAttribute("aria-disabled")).toBe("true");
  await down(allow());
  await click(allow());
  await key(allow(), "Enter");
  await click(allow(), 0);
  await pass(ARM_MS - 1);
  await down(allow());
  await click(allow());
  expect(given).toEqual([]);
  await pass(1);
  expect(allow().getAttribute("aria-disabled")).toBe("false");
  await down(allow());
  await click(allow());
  expect(given).toEqual(["one allow"]);
});

test("a press that began before the button was armed is no answer when it ends", async () => {
  await show("one");
  await down(allow());
  await pass(ARM_MS);
  await click(allow());
  expect(given).toEqual([]);
});

test("a press that began elsewhere is no answer when it ends on the button", async () => {
  await show("one");
  await pass(ARM_MS);
  await down(box.querySelector("#msg")!);
  await click(allow());
  await down(card().querySelector('[data-key="d"]')!);
  await click(allow());
  expect(given).toEqual([]);
});

test("a held key is no answer", async () => {
  await show("one");
  await pass(ARM_MS);
  await key(allow(), "Enter", true);
  await key(allow(), " ", true);
  expect(given).toEqual([]);
  await key(allow(), "Enter");
  expect(given).toEqual(["one allow"]);
});

test("a key that went down before the button was armed is no answer when it comes up", async () => {
  await show("one");
  await on(allow(), new KeyboardEvent("keydown", { key: " ", bubbles: true, cancelable: true }));
  await pass(ARM_MS);
  await on(allow(), new KeyboardEvent("keyup", { key: " ", bubbles: true }));
  // Some browsers click here although the first half was prevented; assistive programs click without any key.
  await click(allow(), 0);
  expect(given).toEqual([]);
  await pass(0);
  await click(allow(), 0);
  expect(given).toEqual(["one allow"]);
});

test("a request that comes or goes disarms the others, which it moves", async () => {
  await show("one");
  await pass(ARM_MS);
  await show("one", "two");
  expect(allow("one").getAttribute("aria-disabled")).toBe("true");
  await pass(ARM_MS);
  expect(allow("two").getAttribute("aria-disabled")).toBe("false");
  await show("two");
  await down(allow("two"));
  await click(allow("two"));
  expect(given).toEqual([]);
});

test("a button that moves under a still pointer is disarmed; one the pointer moves to is not", async () => {
  await show("one");
  await pass(ARM_MS);
  await on(document.body, pointer("pointermove", { clientX: 10, clientY: 10 }));
  await on(allow(), pointer("pointerover", { clientX: 12, clientY: 10 }));
  expect(allow().getAttribute("aria-disabled")).toBe("false");
  await on(document.body, pointer("pointermove", { clientX: 12, clientY: 10 }));
  await on(allow(), pointer("pointerover", { clientX: 12, clientY: 10 }));
  expect(allow().getAttribute("aria-disabled")).toBe("true");
});

test("a page that comes into view again disarms its requests", async () => {
  await show("one");
  await pass(ARM_MS);
  await on(document, new Event("visibilitychange"));
  expect(allow().getAttribute("aria-disabled")).toBe("true");
});

test("a request takes no focus, and gives back the focus it had when it goes", async () => {
  await show();
  box.querySelector<HTMLElement>("#msg")!.focus();
  await show("one");
  await pass(ARM_MS);
  expect(document.activeElement?.id).toBe("msg");
  await act(async () => card().focus());
  await show();
  expect(document.activeElement?.id).toBe("msg");
});

const deny = (id = "one") => card(id).querySelector<HTMLButtonElement>('[data-key="d"]')!;
const letter = (key: string) => act(async () => void answerByKey(key));

test("a letter answers the request with the focus, and on a button does only what that button does", async () => {
  await show("one", "two", "three");
  await pass(ARM_MS);
  await letter("a");
  expect(given).toEqual([]);
  deny().focus();
  await letter("a");
  expect(given).toEqual([]);
  box.querySelector<HTMLButtonElement>('[data-approval="one"] .ac button:not([data-key])')!.focus();
  await letter("a");
  await letter("d");
  expect(given).toEqual([]);
  deny().focus();
  await letter("d");
  allow("two").focus();
  await letter("d");
  await letter("a");
  card("three").focus();
  await letter("d");
  expect(given).toEqual(["one deny", "two allow", "three deny"]);
});
