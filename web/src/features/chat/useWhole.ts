import type { Block } from "@warren/react";
import { useState } from "react";
import { said } from "~/lib/problem";
import { useChat } from "./context";

type Result = Extract<Block, { type: "tool_result" }>;

/** The log keeps this many bytes of a longer text; the whole is stored beside it (`INLINE_PART` in crates/domain). */
const KEPT_BYTES = 16 * 1024;

/** Whether a text is the beginning of a longer one: it was cut at the last character that fits. */
export function looksCut(value: unknown): boolean {
  if (typeof value === "string") {
    if (value.length > KEPT_BYTES || value.length < KEPT_BYTES / 4) return false;
    const bytes = new TextEncoder().encode(value).length;
    return bytes <= KEPT_BYTES && bytes > KEPT_BYTES - 4;
  }
  if (Array.isArray(value)) return value.some(looksCut);
  return typeof value === "object" && value !== null && Object.values(value).some(looksCut);
}

/** An answer that may be cut, and how to load the whole of it. */
export function useWhole(result: Result | null) {
  const { store } = useChat();
  const [whole, setWhole] = useState<Result | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  const known = whole?.id === result?.id ? whole : null;
  const load = async () => {
    if (!result) return;
    setProblem(null);
    try {
      const block = await store.client.block(store.sessionId, result.id);
      if (block.type === "tool_result") setWhole(block);
    } catch (error) {
      setProblem(said(error));
    }
  };
  return { result: known ?? result, isCut: result !== null && known === null && looksCut(result.output), load, problem };
}
