import type { Artifact } from "@warren/react";
import { expect, it } from "vitest";
import { madeIn } from "./things";

const artifact = (id: string, more: Partial<Artifact>): Artifact => ({ id, name: `${id}.md`, kind: "markdown", path: `outputs/${id}.md`, ...more }) as Artifact;
const versions = [{ version: 2, seq: 20 }, { version: 1, seq: 10 }];

it("shows a thing where it was made and where it was last changed", () => {
  const made = madeIn([artifact("a", { createdVersion: 1, updatedVersion: 2 }), artifact("b", { createdSeq: 12, updatedSeq: 12 })], versions);
  expect(made.get(1)?.map((one) => [one.id, one.is])).toEqual([["a", "new"]]);
  expect(made.get(2)?.map((one) => [one.id, one.is])).toEqual([["a", "changed"], ["b", "new"]]);
});

it("leaves out what no version keeps yet", () => {
  expect([...madeIn([artifact("a", { createdSeq: 30, updatedSeq: 30 })], versions)]).toEqual([]);
});
