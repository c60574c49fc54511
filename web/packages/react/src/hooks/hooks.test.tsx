import { act, memo } from "react";
import { createRoot } from "react-dom/client";
import { expect, test } from "vitest";
import { FakeServer, settle, text } from "../testing/fake";
import { WarrenClient } from "../core/client";
import { WarrenProvider } from "../provider";
import { useBlock, useMessages } from "./useMessages";

(globalThis as { IS_REACT_ACT_ENVIRONMENT?: boolean }).IS_REACT_ACT_ENVIRONMENT = true;

test("a delta draws one block again and not the conversation", async () => {
  const server = new FakeServer();
  server.blocks = Array.from({ length: 200 }, (_, n) => text(`b${n}`, `block ${n}`));
  const drawn: string[] = [];
  const OneBlock = memo(function OneBlock({ id }: { id: string }) {
    const block = useBlock("s", id);
    drawn.push(id);
    return <p>{block?.type === "assistant_text" ? block.content : null}</p>;
  });
  function Chat() {
    const { items } = useMessages("s");
    drawn.push("chat");
    return items.map((item) => <OneBlock key={item.key} id={item.id} />);
  }
  const frames: (() => void)[] = [];
  const client = new WarrenClient({ transport: server, frame: (run) => void frames.push(run), pageSize: "all" });
  const page = document.createElement("div");
  const root = createRoot(page);
  await act(async () => root.render(<WarrenProvider client={client}><Chat /></WarrenProvider>));
  await act(settle);
  await act(async () => frames.splice(0).forEach((run) => run()));
  expect(page.querySelectorAll("p").length).toBe(200);

  drawn.length = 0;
  await act(async () => {
    for (let n = 0; n < 50; n += 1) server.record({ type: "text_delta", blockId: "b7", delta: "!" });
    frames.splice(0).forEach((run) => run());
  });
  expect(drawn).toEqual(["b7"]);
  expect(page.querySelectorAll("p")[7]?.textContent).toBe(`block 7${"!".repeat(50)}`);
  await act(async () => root.unmount());
});
