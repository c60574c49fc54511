import { WarrenClient, WarrenError } from "@warren/react";
import { act } from "react";
import { createRoot } from "react-dom/client";
import { afterEach, expect, test } from "vitest";
import { FakeServer, settle } from "../../../packages/react/src/testing/fake";
import { Composer } from "./Composer";

(globalThis as { IS_REACT_ACT_ENVIRONMENT?: boolean }).IS_REACT_ACT_ENVIRONMENT = true;

const refusal = new WarrenError(409, { status: 409, code: "CONFLICT", title: "Conflict", detail: "it exists" } as never, "");
let leave = async () => {};
afterEach(() => leave());

/** A composer of a session that has `sales.csv`. */
async function composer(session: string) {
  const server = new FakeServer();
  const names = new Set(["sales.csv"]);
  const done: string[] = [];
  Object.assign(server.answers, {
    [`GET /api/sessions/${session}/fs`]: () => ({ entries: [...names].map((name) => ({ name, path: `/user-input/${name}`, kind: "file", sizeBytes: 1 })) }),
    [`POST /api/sessions/${session}/fs/upload`]: ({ body }: { body: FormData }) => {
      const { name } = body.get("file") as File;
      if (names.has(name)) throw refusal;
      names.add(name);
      done.push(`new ${name}`);
      return { files: [{ path: `/user-input/${name}`, sizeBytes: 1 }] };
    },
    [`PUT /api/sessions/${session}/fs`]: ({ query }: { query: { path: string } }) => {
      done.push(`over ${query.path}`);
      return { path: query.path };
    },
  });
  const store = new WarrenClient({ transport: server, frame: (run) => run() }).store(session);
  const box = document.body.appendChild(document.createElement("div"));
  const root = createRoot(box);
  leave = async () => {
    await act(async () => root.unmount());
    box.remove();
  };
  await act(async () => root.render(<Composer store={store} agentType="builtin" running={false} stopping={false} queued={[]} spending={{ usage: null, costUSD: 0, model: undefined }} picker={null} stopHint={false} queueHeld={false} commands={[]} onStop={() => {}} onSent={() => {}} />));
  const attach = (name: string) => act(async () => {
    const drop = new Event("drop", { bubbles: true, cancelable: true });
    Object.assign(drop, { dataTransfer: { files: [new File(["1"], name)], types: ["Files"] } });
    box.querySelector(".comp")!.dispatchEvent(drop);
    await settle();
  });
  const press = (label: string) => act(async () => {
    box.querySelector<HTMLButtonElement>(`[aria-label="${label}"]`)!.click();
    await settle();
    await settle();
  });
  return { box, done, attach, press, send: () => box.querySelector<HTMLButtonElement>("[aria-label=Send]")! };
}

test("a file of a name that is there waits for a choice, and is told to those who listen", async () => {
  const { box, attach, press, send, done } = await composer("one");
  await attach("sales.csv");
  expect(box.querySelector("[role=alert]")?.textContent).toBe("A file with this name already exists.");
  expect(send().disabled).toBe(true);
  expect(done).toEqual([]);
  await press("Replace the existing sales.csv");
  expect(done).toEqual(["over /user-input/sales.csv"]);
  expect(send().disabled).toBe(false);
  expect(document.activeElement?.id).toBe("msg");
});

test("both are kept, the new one under a name that is free", async () => {
  const { box, attach, press, done } = await composer("two");
  await attach("sales.csv");
  await press("Keep both files named sales.csv");
  expect(done).toEqual(["new sales (2).csv"]);
  expect([...box.querySelectorAll(".att b")].map((name) => name.textContent)).toEqual(["sales (2).csv"]);
});

test("what was attached before and is replaced is attached once", async () => {
  const { box, attach, press, done } = await composer("three");
  await attach("rota.txt");
  await attach("rota.txt");
  expect(box.querySelectorAll(".att").length).toBe(2);
  await press("Replace the existing rota.txt");
  expect(box.querySelectorAll(".att").length).toBe(1);
  expect(done).toEqual(["new rota.txt", "over /user-input/rota.txt"]);
});
