import { WarrenError } from "@warren/react";
import { expect, test } from "vitest";
import { saidWithHint } from "./problem";

test("a refusal is a sentence, followed by what to do", () => {
  const problem = { status: 400, code: "BAD_REQUEST", title: "Bad request", detail: "the model `x` cannot answer", hint: "store a key under Settings" };
  expect(saidWithHint(new WarrenError(400, problem as never, ""))).toBe("The model `x` cannot answer. Store a key under Settings.");
  expect(saidWithHint(new Error("It failed."))).toBe("It failed.");
});
