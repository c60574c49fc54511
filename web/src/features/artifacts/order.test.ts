import type { Artifact } from "@warren/react";
import { expect, it } from "vitest";
import { inOrder } from "./order";

const artifact = (kind: Artifact["kind"], path: string, seq: number) => ({ id: path, kind, path, name: path, createdSeq: seq }) as Artifact;

it("puts the page before its data, whatever was made or listed last", () => {
  const live = [artifact("csv", "outputs/sales.csv", 9), artifact("html", "outputs/index.html", 5), artifact("markdown", "outputs/b.md", 7), artifact("markdown", "outputs/a.md", 8)];
  const order = ["outputs/index.html", "outputs/a.md", "outputs/b.md", "outputs/sales.csv"];
  expect(inOrder(live).map((one) => one.path)).toEqual(order);
  const forked = live.toReversed().map((one, at) => ({ ...one, createdSeq: at }));
  expect(inOrder(forked).map((one) => one.path)).toEqual(order);
});

it("puts a kind that this page does not know last", () => {
  expect(inOrder([artifact("new" as never, "a", 1), artifact("code", "z", 1)]).map((one) => one.path)).toEqual(["z", "a"]);
});
